/* SPDX-License-Identifier: MIT */
/** Resources: named by ids that go stale, closed outside the table. */
#include "tests/unit/worker_fixture.h"

typedef struct thing {
    redd_resource base;
    redd_worker *worker;
    redd_rid rid;
    unsigned closed, freed;
    struct thing *adds; /* what close adds */
} thing;

static void thing_close(redd_resource *r)
{
    thing *t = (thing *)r;
    t->closed++;
    assert_true(r->refs >= 1);
    redd_resource *found;
    assert_int_equal(redd_resource_get(t->worker, t->rid, NULL, &found), REDD_ERESOURCE);
    assert_int_equal(redd_resource_close(t->worker, t->rid), REDD_ERESOURCE);
    if (t->adds)
        assert_int_equal(redd_resource_add(t->worker, &t->adds->base, &t->adds->rid), 0);
}

static void thing_free(redd_resource *r)
{
    ((thing *)r)->freed++;
}

static const redd_resource_vt thing_vt = {"thing", thing_close, thing_free};
static const redd_resource_vt other_vt = {"other", NULL, thing_free};

static thing make(fixture *f, const redd_resource_vt *vt)
{
    thing t = {.worker = f->w};
    redd_resource_init(&t.base, vt);
    return t;
}

static int setup(void **state)
{
    (void)fixture_setup(state);
    fixture_attach(*state, NULL);
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    if (f->w)
        fixture_detach(f, REDD_STOP_GRACEFUL);
    return fixture_teardown(state);
}

static void add_get_close(void **state)
{
    fixture *f = *state;
    thing t = make(f, &thing_vt);
    redd_resource *r;
    assert_int_equal(redd_resource_add(f->w, &t.base, &t.rid), 0);
    assert_int_not_equal(t.rid, 0);
    assert_int_equal(redd_resource_count(f->w), 1);
    assert_int_equal(redd_resource_get(f->w, t.rid, &thing_vt, &r), 0);
    assert_ptr_equal(r, &t.base);
    assert_int_equal(redd_resource_get(f->w, t.rid, NULL, &r), 0);
    assert_int_equal(redd_resource_get(f->w, t.rid, &other_vt, &r), REDD_ERESOURCE);
    assert_int_equal(redd_resource_get(f->w, 0, NULL, &r), REDD_ERESOURCE);
    assert_int_equal(redd_resource_get(f->w, t.rid + 1, NULL, &r), REDD_ERESOURCE);
    assert_int_equal(redd_resource_close(f->w, t.rid), 0);
    assert_int_equal(t.closed, 1);
    assert_int_equal(t.freed, 1);
    assert_int_equal(redd_resource_count(f->w), 0);
    assert_int_equal(redd_resource_close(f->w, t.rid), REDD_ERESOURCE);
}

static void stale_ids(void **state)
{
    fixture *f = *state;
    redd_rid old = 0;
    for (int i = 0; i < 5000; i++) { /* more than one entry has generations */
        thing t = make(f, &thing_vt);
        redd_resource *r;
        assert_int_equal(redd_resource_add(f->w, &t.base, &t.rid), 0);
        assert_int_not_equal(t.rid, old);
        assert_int_equal(redd_resource_get(f->w, old, NULL, &r), REDD_ERESOURCE);
        assert_int_equal(redd_resource_close(f->w, t.rid), 0);
        old = t.rid;
    }
}

static void take_does_not_close(void **state)
{
    fixture *f = *state;
    thing t = make(f, &thing_vt);
    redd_resource *r;
    assert_int_equal(redd_resource_add(f->w, &t.base, &t.rid), 0);
    assert_int_equal(redd_resource_take(f->w, t.rid, &other_vt, &r), REDD_ERESOURCE);
    assert_int_equal(redd_resource_count(f->w), 1);
    assert_int_equal(redd_resource_take(f->w, t.rid, &thing_vt, &r), 0);
    assert_int_equal(redd_resource_count(f->w), 0);
    assert_int_equal(t.closed, 0);
    assert_int_equal(t.freed, 0);
    redd_resource_unref(r);
    assert_int_equal(t.freed, 1);
}

static void a_reference_outlives_the_id(void **state)
{
    fixture *f = *state;
    thing t = make(f, &thing_vt);
    redd_resource *r;
    assert_int_equal(redd_resource_add(f->w, &t.base, &t.rid), 0);
    assert_int_equal(redd_resource_get(f->w, t.rid, NULL, &r), 0);
    (void)redd_resource_ref(r);
    assert_int_equal(redd_resource_close(f->w, t.rid), 0);
    assert_int_equal(t.closed, 1);
    assert_int_equal(t.freed, 0);
    redd_resource_unref(r);
    assert_int_equal(t.freed, 1);
}

static void no_memory(void **state)
{
    fixture *f = *state;
    thing t = make(f, &thing_vt);
    redd_counting_allocator_fail_at(f->counting, 1, false);
    assert_int_equal(redd_resource_add(f->w, &t.base, &t.rid), UV_ENOMEM);
    assert_int_equal(t.base.refs, 1); /* still the caller's */
    redd_resource_unref(&t.base);
    assert_int_equal(t.freed, 1);
    assert_int_equal(t.closed, 0);
}

static void the_end_closes_all(void **state)
{
    fixture *f = *state;
    thing late = make(f, &thing_vt);
    thing a = make(f, &thing_vt), b = make(f, &other_vt), c = make(f, &thing_vt);
    c.adds = &late; /* closing one adds another: that is closed as well */
    assert_int_equal(redd_resource_add(f->w, &a.base, &a.rid), 0);
    assert_int_equal(redd_resource_add(f->w, &b.base, &b.rid), 0);
    assert_int_equal(redd_resource_add(f->w, &c.base, &c.rid), 0);
    fixture_detach(f, REDD_STOP_GRACEFUL);
    assert_int_equal(a.closed + b.closed + c.closed + late.closed, 3);
    assert_int_equal(a.freed + b.freed + c.freed + late.freed, 4);
}

static void by_op(void **state)
{
    fixture *f = *state;
    thing t = make(f, &thing_vt);
    redd_value out;
    assert_int_equal(redd_resource_add(f->w, &t.base, &t.rid), 0);
    redd_value rid = redd_value_resource(t.rid);
    redd_op_id name = redd_op_find(f->rt, "op_resource_name");
    redd_op_id close = redd_op_find(f->rt, "op_close");
    assert_int_equal(redd_op_call(f->w, name, &rid, 1, &out, NULL), 0);
    assert_int_equal(out.kind, REDD_STRING);
    assert_true(redd_slice_equal(redd_bytes_slice(out.as.bytes), redd_slice_str("thing")));
    redd_value_drop(&out);
    assert_int_equal(redd_op_call(f->w, close, &rid, 1, &out, NULL), 0);
    assert_int_equal(t.closed, 1);
    assert_int_equal(redd_op_call(f->w, close, &rid, 1, &out, NULL), REDD_ERESOURCE);
    rid = redd_value_u32(t.rid);
    assert_int_equal(redd_op_call(f->w, close, &rid, 1, &out, NULL), REDD_EARGUMENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(add_get_close),
        TEST(stale_ids),
        TEST(take_does_not_close),
        TEST(a_reference_outlives_the_id),
        TEST(no_memory),
        TEST(the_end_closes_all),
        TEST(by_op),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
