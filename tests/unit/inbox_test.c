/* SPDX-License-Identifier: MIT */
/** The inbox and the remote wakers that go through it. */
#include "tests/unit/task_fixture.h"

#include <stdatomic.h>

static fixture f;
static redd__inbox *inbox;

static int setup(void **state)
{
    (void)state;
    fixture_init(&f);
    return 0;
}

static int setup_inbox(void **state)
{
    assert_int_equal(setup(state), 0);
    assert_int_equal(redd__inbox_new(&f.loop, f.alloc, &inbox), 0);
    return 0;
}

static int setup_executor(void **state)
{
    assert_int_equal(setup(state), 0);
    assert_int_equal(fixture_executor(&f, 0), 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    if (inbox) {
        redd__inbox_close(inbox, fixture_on_closed, &f);
        redd__inbox_unref(inbox);
        inbox = NULL;
    }
    fixture_fini(&f);
    return 0;
}

/* --- notes --- */

typedef struct letter {
    redd__note note;
    int number;
} letter;

static int read_numbers[64];
static int read_count;

static void read_letter(redd__note *n)
{
    read_numbers[read_count++] = ((letter *)n)->number;
}

static void letter_init(letter *l, int number, void (*deliver)(redd__note *))
{
    l->note.deliver = deliver;
    l->number = number;
}

static void notes_are_delivered_in_order(void **state)
{
    (void)state;
    letter l[10];
    read_count = 0;
    for (int i = 0; i < 10; i++) {
        letter_init(&l[i], i, read_letter);
        assert_int_equal(redd__inbox_post(inbox, &l[i].note), 0);
    }
    assert_int_equal(read_count, 0);
    assert_false(uv_loop_alive(&f.loop)); /* it keeps no loop alive */
    redd__inbox_close(inbox, fixture_on_closed, &f);
    assert_int_equal(read_count, 10); /* what is there is delivered */
    for (int i = 0; i < 10; i++)
        assert_int_equal(read_numbers[i], i);
    assert_int_equal(redd__inbox_post(inbox, &l[0].note), REDD_ECLOSED);
    fixture_run(&f);
    assert_int_equal(f.closed, 1);
    assert_int_equal(redd__inbox_post(inbox, &l[0].note), REDD_ECLOSED);
    redd__inbox_unref(inbox);
    inbox = NULL;
    assert_int_equal(read_count, 10);
}

static letter again;

static void read_and_post(redd__note *n)
{
    read_letter(n);
    again = *(letter *)n;
    again.number++;
    if (again.number < 5)
        assert_int_equal(redd__inbox_post(inbox, &again.note), 0);
}

static void read_and_close(redd__note *n)
{
    read_letter(n);
    redd__inbox_close(inbox, fixture_on_closed, &f);
    assert_int_equal(read_count, 3); /* the others came before it returned */
    redd__inbox_unref(inbox);
    inbox = NULL;
}

static void on_keep_alive(uv_timer_t *t)
{
    (void)t;
    static int ticks;
    if (++ticks > 20000)
        fail_msg("nothing came within 20 seconds");
}

static uv_timer_t keep_alive;

static void keep_loop(void)
{
    uv_timer_init(&f.loop, &keep_alive);
    uv_timer_start(&keep_alive, on_keep_alive, 1, 1);
}

static void release_loop(void)
{
    uv_close((uv_handle_t *)&keep_alive, NULL);
    fixture_run(&f);
}

static void notes_may_post_notes(void **state)
{
    (void)state;
    letter l;
    read_count = 0;
    letter_init(&l, 0, read_and_post);
    assert_int_equal(redd__inbox_post(inbox, &l.note), 0);
    keep_loop();
    while (read_count < 5)
        (void)uv_run(&f.loop, UV_RUN_ONCE);
    release_loop();
    for (int i = 0; i < 5; i++)
        assert_int_equal(read_numbers[i], i);
}

static void a_note_may_close_the_inbox(void **state)
{
    (void)state;
    letter l[3];
    read_count = 0;
    letter_init(&l[0], 0, read_and_close);
    letter_init(&l[1], 1, read_letter);
    letter_init(&l[2], 2, read_letter);
    for (int i = 0; i < 3; i++)
        assert_int_equal(redd__inbox_post(inbox, &l[i].note), 0);
    keep_loop();
    while (f.closed == 0)
        (void)uv_run(&f.loop, UV_RUN_ONCE);
    release_loop();
    assert_int_equal(read_count, 3);
}

static void failures_are_reported(void **state)
{
    (void)state;
    redd__inbox *other = NULL;
    for (uint64_t n = 1; n <= 2; n++) {
        redd_counting_allocator_fail_at(f.counting, n, false);
        assert_int_equal(redd__inbox_new(&f.loop, f.alloc, &other), UV_ENOMEM);
        assert_null(other);
    }
    assert_int_equal(uv_run(&f.loop, UV_RUN_DEFAULT), 0);
}

/* --- posts from threads, and a close in their midst --- */

enum { THREADS = 4, LETTERS = 3000 };

typedef struct sender {
    uv_thread_t thread;
    redd__inbox *inbox; /* counted */
    letter letters[LETTERS];
    int accepted;
    int delivered; /* loop's thread */
    bool out_of_order;
} sender;

static sender senders[THREADS];

static void read_of_sender(redd__note *n)
{
    letter *l = (letter *)n;
    sender *s = &senders[l->number / LETTERS];
    if (l->number % LETTERS != s->delivered)
        s->out_of_order = true;
    s->delivered++;
}

static void send_letters(void *arg)
{
    sender *s = arg;
    for (int i = 0; i < LETTERS; i++) {
        letter_init(&s->letters[i], (int)(s - senders) * LETTERS + i, read_of_sender);
        if (redd__inbox_post(s->inbox, &s->letters[i].note) == 0)
            s->accepted++;
    }
    redd__inbox_unref(s->inbox);
}

static void every_accepted_note_is_delivered(void **state)
{
    (void)state;
    for (int close_early = 0; close_early < 2; close_early++) {
        if (!inbox)
            assert_int_equal(redd__inbox_new(&f.loop, f.alloc, &inbox), 0);
        memset(senders, 0, sizeof(senders));
        for (int i = 0; i < THREADS; i++) {
            senders[i].inbox = redd__inbox_ref(inbox);
            assert_int_equal(uv_thread_create(&senders[i].thread, send_letters, &senders[i]), 0);
        }
        keep_loop();
        int enough = close_early ? 1 : LETTERS;
        for (int i = 0; i < THREADS; i++)
            while (senders[i].delivered < enough && !(close_early && i > 0))
                (void)uv_run(&f.loop, UV_RUN_ONCE);
        redd__inbox_close(inbox, fixture_on_closed, &f);
        redd__inbox_unref(inbox);
        inbox = NULL;
        release_loop();
        for (int i = 0; i < THREADS; i++) {
            uv_thread_join(&senders[i].thread);
            assert_false(senders[i].out_of_order);
            assert_int_equal(senders[i].delivered, senders[i].accepted);
        }
    }
}

/* --- remote wakers --- */

typedef struct target {
    probe p;
    redd_remote_waker *remote; /* made in the first poll */
    atomic_int sum;            /* what the threads have done, told by their wakes */
    int expected;
} target;

static redd_poll body_count(probe *p, redd_waker *waker, redd_value *out)
{
    (void)out;
    target *t = (target *)p;
    if (!t->remote)
        assert_int_equal(redd_waker_remote(waker, &t->remote), 0);
    return atomic_load_explicit(&t->sum, memory_order_relaxed) == t->expected ? REDD_READY
                                                                              : REDD_PENDING;
}

static void target_init(target *t, int expected)
{
    memset(t, 0, sizeof(*t));
    probe_init(&t->p, body_count);
    t->expected = expected;
    assert_int_equal(redd_spawn(f.ex, &t->p.base, NULL), 0);
}

static void wakes_before_the_drain_are_one(void **state)
{
    (void)state;
    target t;
    target_init(&t, 100);
    fixture_turn(&f);
    for (int i = 0; i < 100; i++) {
        atomic_fetch_add(&t.sum, 1);
        redd_remote_waker_wake(t.remote);
    }
    assert_int_equal(t.p.polls, 1);
    fixture_run(&f); /* the task keeps the loop alive, the wake ends its sleep */
    assert_int_equal(t.p.polls, 2);
    assert_int_equal(t.p.drops, 1);
    redd_remote_waker_wake(t.remote); /* finished: left alone */
    redd_remote_waker_unref(t.remote);
    redd_remote_waker_unref(NULL);
}

static void a_remote_waker_outlives_task_and_executor(void **state)
{
    (void)state;
    target t;
    target_init(&t, 1);
    fixture_turn(&f);
    redd_remote_waker *second = redd_remote_waker_ref(t.remote);
    redd_remote_waker_wake(t.remote); /* its note is under way */
    fixture_close_executor(&f);
    assert_int_equal(t.p.drops, 1);
    redd_remote_waker_wake(second);
    fixture_run(&f);
    redd_remote_waker_wake(second);
    redd_remote_waker_wake(t.remote);
    redd_remote_waker_unref(t.remote);
    redd_remote_waker_wake(second);
    redd_remote_waker_unref(second);
    assert_int_equal(fixture_stats(&f).blocks, 0);
}

static redd_waker *local; /* kept beyond its task by body_keep_only */

static redd_poll body_keep_only(probe *p, redd_waker *waker, redd_value *out)
{
    (void)p;
    (void)out;
    redd_waker_keep(&local, waker);
    return REDD_PENDING;
}

static void a_remote_waker_made_after_the_close_does_nothing(void **state)
{
    (void)state;
    probe p;
    redd_remote_waker *remote = NULL;
    probe_init(&p, body_keep_only);
    assert_int_equal(redd_spawn(f.ex, &p.base, NULL), 0);
    fixture_turn(&f);
    fixture_close_executor(&f);
    assert_int_equal(redd_waker_remote(local, &remote), 0);
    fixture_run(&f);
    redd_waker_keep(&local, NULL);
    redd_remote_waker_wake(remote);
    redd_remote_waker_unref(remote);
}

static void failure_to_make_a_remote_waker(void **state)
{
    (void)state;
    probe p;
    redd_remote_waker *remote = NULL;
    probe_init(&p, body_keep_only);
    assert_int_equal(redd_spawn(f.ex, &p.base, NULL), 0);
    fixture_turn(&f);
    redd_counting_allocator_fail_at(f.counting, 1, false);
    assert_int_equal(redd_waker_remote(local, &remote), UV_ENOMEM);
    assert_null(remote);
    assert_int_equal(redd__executor_abort_all(f.ex), 1);
    redd_waker_keep(&local, NULL);
}

/* --- storms --- */

enum { TARGETS = 8, WAKES = 5000 };

typedef struct storm {
    uv_thread_t thread;
    target *targets;
    redd_remote_waker *remotes[TARGETS];
} storm;

static void blow(void *arg)
{
    storm *s = arg;
    for (int i = 0; i < WAKES; i++)
        for (int k = 0; k < TARGETS; k++) {
            /* Relaxed: the wake alone must carry it to the poll. */
            atomic_fetch_add_explicit(&s->targets[k].sum, 1, memory_order_relaxed);
            redd_remote_waker_wake(s->remotes[k]);
        }
    for (int k = 0; k < TARGETS; k++)
        redd_remote_waker_unref(s->remotes[k]);
}

static void start_storms(storm *storms, target *targets)
{
    for (int i = 0; i < THREADS; i++) {
        storms[i].targets = targets;
        for (int k = 0; k < TARGETS; k++)
            storms[i].remotes[k] = redd_remote_waker_ref(targets[k].remote);
        assert_int_equal(uv_thread_create(&storms[i].thread, blow, &storms[i]), 0);
    }
    for (int k = 0; k < TARGETS; k++)
        redd_remote_waker_unref(targets[k].remote);
}

static void no_wake_is_lost_in_a_storm(void **state)
{
    (void)state;
    target targets[TARGETS];
    storm storms[THREADS];
    for (int k = 0; k < TARGETS; k++)
        target_init(&targets[k], THREADS * WAKES);
    fixture_turn(&f);
    start_storms(storms, targets);
    fixture_run(&f); /* returns only when every task has seen everything */
    for (int i = 0; i < THREADS; i++)
        uv_thread_join(&storms[i].thread);
    for (int k = 0; k < TARGETS; k++) {
        assert_int_equal(targets[k].p.drops, 1);
        assert_int_equal(atomic_load(&targets[k].sum), THREADS * WAKES);
    }
}

static void the_executor_closes_in_a_storm(void **state)
{
    (void)state;
    for (int round = 0; round < 10; round++) {
        if (!f.ex)
            assert_int_equal(fixture_executor(&f, 0), 0);
        target targets[TARGETS];
        storm storms[THREADS];
        for (int k = 0; k < TARGETS; k++)
            target_init(&targets[k], -1);
        fixture_turn(&f);
        start_storms(storms, targets);
        /* Before the first wake is seen, or in the midst of them. */
        while (round % 2 && targets[0].p.polls < 2)
            (void)uv_run(&f.loop, UV_RUN_ONCE);
        fixture_close_executor(&f);
        fixture_run(&f);
        for (int i = 0; i < THREADS; i++)
            uv_thread_join(&storms[i].thread);
        for (int k = 0; k < TARGETS; k++)
            assert_int_equal(targets[k].p.drops, 1);
        assert_int_equal(fixture_stats(&f).blocks, 0);
    }
}

int main(void)
{
#define INBOX(name)    cmocka_unit_test_setup_teardown(name, setup_inbox, teardown)
#define EXECUTOR(name) cmocka_unit_test_setup_teardown(name, setup_executor, teardown)
    const struct CMUnitTest tests[] = {
        INBOX(notes_are_delivered_in_order),
        INBOX(notes_may_post_notes),
        INBOX(a_note_may_close_the_inbox),
        INBOX(failures_are_reported),
        INBOX(every_accepted_note_is_delivered),
        EXECUTOR(wakes_before_the_drain_are_one),
        EXECUTOR(a_remote_waker_outlives_task_and_executor),
        EXECUTOR(a_remote_waker_made_after_the_close_does_nothing),
        EXECUTOR(failure_to_make_a_remote_waker),
        EXECUTOR(no_wake_is_lost_in_a_storm),
        EXECUTOR(the_executor_closes_in_a_storm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
