/* SPDX-License-Identifier: MIT */
/** Unix sockets: whose file may be replaced and removed, and whose not; sockets that were given. */
#include "tests/unit/listener_fixture.h"

#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>

typedef struct place {
    fixture f;
    char folder[32];
    char path[64];
} place;

static void place_begin(place *p)
{
    memset(p, 0, sizeof *p);
    fixture_begin(&p->f, 2, false);
    (void)snprintf(p->folder, sizeof p->folder, "/tmp/redd-unix-XXXXXX");
    assert_non_null(mkdtemp(p->folder));
    (void)snprintf(p->path, sizeof p->path, "%s/socket", p->folder);
}

static void place_end(place *p)
{
    assert_int_equal(rmdir(p->folder), 0); /* nothing was left */
    fixture_end(&p->f);
}

static int bind_path(place *p, const char *path, unsigned mode, redd_listener **out)
{
    redd_listen_options o = REDD_LISTEN_OPTIONS_INIT;
    o.path = path;
    o.mode = mode;
    return redd_listener_bind(p->f.rt, &o, out);
}

static int try_connect(const char *path)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    size_t n = strlen(path);
    memcpy(name.sun_path, path, n);
    socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
    if (path[0] == '@')
        name.sun_path[0] = '\0';
    else
        len++;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    int rc = connect(fd, (struct sockaddr *)&name, len) == 0 ? 0 : -errno;
    (void)close(fd);
    return rc;
}

/** Whatever the umask says. */
static void test_mode(void **state)
{
    (void)state;
    static const unsigned modes[][3] = {
        {0, 0660, 0}, {0600, 0600, 022}, {0666, 0666, 077}, {0777, 0777, 027}};
    mode_t before = umask(0);
    for (size_t i = 0; i < 4; i++) {
        (void)umask((mode_t)modes[i][2]);
        place p;
        redd_listener *l;
        redd_address a;
        struct stat st;
        place_begin(&p);
        assert_int_equal(bind_path(&p, p.path, modes[i][0], &l), 0);
        assert_int_equal(lstat(p.path, &st), 0);
        assert_true(S_ISSOCK(st.st_mode));
        assert_int_equal(st.st_mode & 0777, modes[i][1]);
        assert_string_equal(redd_listener_path(l), p.path);
        redd_listener_address(l, &a);
        assert_true(a.local);
        assert_string_equal(a.host, "");
        assert_int_equal(redd_listener_balance(l), REDD_BALANCE_SHARED);
        assert_int_equal(try_connect(p.path), 0);
        redd_listener_free(l);
        assert_int_equal(try_connect(p.path), UV_ENOENT);
        place_end(&p);
    }
    (void)umask(before);
}

static void test_live_owner_stays(void **state)
{
    (void)state;
    place p;
    redd_listener *l, *second = NULL;
    place_begin(&p);
    assert_int_equal(bind_path(&p, p.path, 0, &l), 0);
    assert_int_equal(bind_path(&p, p.path, 0, &second), UV_EADDRINUSE);
    assert_null(second);
    assert_int_equal(try_connect(p.path), 0);
    redd_listener_free(l);
    place_end(&p);
}

/** Also one that accepts nothing, so that its backlog is full. */
static void test_busy_owner_stays(void **state)
{
    (void)state;
    place p;
    redd_listen_options o = REDD_LISTEN_OPTIONS_INIT;
    redd_listener *l, *second = NULL;
    place_begin(&p);
    o.path = p.path;
    o.backlog = 1;
    assert_int_equal(redd_listener_bind(p.f.rt, &o, &l), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(bind_path(&p, p.path, 0, &second), UV_EADDRINUSE);
    redd_listener_free(l);
    place_end(&p);
}

/** One that takes no connections is alive, too. */
static void test_live_datagram_socket_stays(void **state)
{
    (void)state;
    place p;
    redd_listener *l = NULL;
    struct stat st;
    place_begin(&p);
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    memcpy(name.sun_path, p.path, strlen(p.path));
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof name), 0);
    assert_int_equal(bind_path(&p, p.path, 0, &l), UV_EADDRINUSE);
    assert_null(l);
    assert_int_equal(lstat(p.path, &st), 0);
    assert_int_equal(close(fd), 0);
    assert_int_equal(bind_path(&p, p.path, 0, &l), 0); /* now it is nobody's */
    redd_listener_free(l);
    place_end(&p);
}

static void leave_stale_socket(const char *path)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    memcpy(name.sun_path, path, strlen(path));
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof name), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(close(fd), 0);
    assert_int_equal(try_connect(path), UV_ECONNREFUSED);
}

static void test_stale_path_is_replaced(void **state)
{
    (void)state;
    place p;
    redd_listener *l;
    place_begin(&p);
    leave_stale_socket(p.path);
    assert_int_equal(bind_path(&p, p.path, 0, &l), 0);
    assert_int_equal(try_connect(p.path), 0);
    redd_listener_free(l);
    place_end(&p);
}

typedef struct rival {
    uv_thread_t thread;
    uv_barrier_t *start;
    const char *path;
    redd__unix_file file;
    int fd;
    int rc;
} rival;

static void compete(void *user)
{
    rival *r = user;
    (void)uv_barrier_wait(r->start);
    r->rc = redd__unix_listen(r->path, 0, 64, &r->file, &r->fd);
}

/** Many find the same stale file at the same time: one gets it, and nobody takes it from him. */
static void test_race_for_a_stale_path(void **state)
{
    (void)state;
    enum { RIVALS = 8, ROUNDS = 50 };
    place p;
    place_begin(&p);
    for (int round = 0; round < ROUNDS; round++) {
        rival rivals[RIVALS] = {0};
        uv_barrier_t start;
        leave_stale_socket(p.path);
        assert_int_equal(uv_barrier_init(&start, RIVALS), 0);
        for (int i = 0; i < RIVALS; i++) {
            rivals[i] = (rival){.start = &start, .path = p.path};
            assert_int_equal(uv_thread_create(&rivals[i].thread, compete, &rivals[i]), 0);
        }
        int winners = 0;
        for (int i = 0; i < RIVALS; i++) {
            assert_int_equal(uv_thread_join(&rivals[i].thread), 0);
            winners += rivals[i].rc == 0;
            assert_true(rivals[i].rc == 0 || rivals[i].rc == UV_EADDRINUSE);
        }
        uv_barrier_destroy(&start);
        assert_int_equal(winners, 1);
        assert_int_equal(try_connect(p.path), 0);
        for (int i = 0; i < RIVALS; i++)
            if (rivals[i].rc == 0) {
                redd__unix_remove(&rivals[i].file);
                assert_int_equal(close(rivals[i].fd), 0);
            }
    }
    place_end(&p);
}

/** Somebody who locks the folder for another reason does not keep us for ever. */
static void test_locked_folder(void **state)
{
    (void)state;
    place p;
    redd_listener *l = NULL;
    place_begin(&p);
    int folder = open(p.folder, O_RDONLY | O_DIRECTORY);
    assert_int_equal(flock(folder, LOCK_EX), 0);
    leave_stale_socket(p.path);
    assert_int_equal(bind_path(&p, p.path, 0, &l), UV_EBUSY);
    assert_null(l);
    assert_int_equal(try_connect(p.path), UV_ECONNREFUSED); /* as it was */
    assert_int_equal(close(folder), 0);
    assert_int_equal(bind_path(&p, p.path, 0, &l), 0);
    redd_listener_free(l);
    place_end(&p);
}

static void test_other_files_stay(void **state)
{
    (void)state;
    place p;
    redd_listener *l = NULL;
    struct stat st;
    place_begin(&p);
    int fd = open(p.path, O_CREAT | O_WRONLY, 0600);
    assert_int_equal(close(fd), 0);
    assert_int_equal(bind_path(&p, p.path, 0, &l), UV_EEXIST);
    assert_int_equal(lstat(p.path, &st), 0);
    assert_true(S_ISREG(st.st_mode));
    assert_int_equal(unlink(p.path), 0);
    assert_int_equal(symlink("/nowhere", p.path), 0);
    assert_int_equal(bind_path(&p, p.path, 0, &l), UV_EEXIST);
    assert_int_equal(unlink(p.path), 0);
    assert_int_equal(mkdir(p.path, 0700), 0);
    assert_int_equal(bind_path(&p, p.path, 0, &l), UV_EEXIST);
    assert_int_equal(rmdir(p.path), 0);
    assert_null(l);
    place_end(&p);
}

/** Somebody has taken the path over: it is his file now. */
static void test_successor_stays(void **state)
{
    (void)state;
    place p;
    redd_listener *l, *successor;
    place_begin(&p);
    assert_int_equal(bind_path(&p, p.path, 0, &l), 0);
    assert_int_equal(unlink(p.path), 0);
    assert_int_equal(bind_path(&p, p.path, 0, &successor), 0);
    redd_listener_free(l);
    assert_int_equal(try_connect(p.path), 0);
    redd_listener_free(successor);
    place_end(&p);
}

static void test_bad_paths(void **state)
{
    (void)state;
    place p;
    redd_listener *l = NULL;
    char path[256];
    place_begin(&p);
    (void)snprintf(path, sizeof path, "%s/missing/socket", p.folder);
    assert_int_equal(bind_path(&p, path, 0, &l), UV_ENOENT);
    memset(path, 'a', 108);
    memcpy(path, p.folder, strlen(p.folder));
    path[strlen(p.folder)] = '/';
    path[108] = '\0';
    assert_int_equal(bind_path(&p, path, 0, &l), UV_ENAMETOOLONG);
    assert_int_equal(bind_path(&p, "", 0, &l), UV_EINVAL);
    assert_null(l);
    path[107] = '\0';
    assert_int_equal(bind_path(&p, path, 0, &l), 0);
    assert_int_equal(try_connect(path), 0);
    redd_listener_free(l);
    place_end(&p);
}

/** In the working folder, at a name without a slash. */
static void test_relative_path(void **state)
{
    (void)state;
    place p;
    redd_listener *l;
    place_begin(&p);
    int before = open(".", O_RDONLY | O_DIRECTORY);
    assert_int_equal(chdir(p.folder), 0);
    assert_int_equal(bind_path(&p, "socket", 0, &l), 0);
    assert_int_equal(try_connect(p.path), 0);
    redd_listener_free(l);
    assert_int_equal(fchdir(before), 0);
    assert_int_equal(close(before), 0);
    place_end(&p);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    place p;
    redd_listener *l = NULL;
    struct stat st;
    place_begin(&p);
    redd_counting_allocator_fail_at(p.f.counting, 1, true);
    assert_int_equal(bind_path(&p, p.path, 0, &l), UV_ENOMEM);
    redd_counting_allocator_fail_at(p.f.counting, 0, false);
    assert_null(l);
    assert_int_equal(lstat(p.path, &st), -1);
    place_end(&p);
}

static void test_abstract(void **state)
{
    (void)state;
    place p;
    redd_listener *l, *second = NULL;
    char name[64];
    place_begin(&p);
    (void)snprintf(name, sizeof name, "@%s", p.folder);
    assert_int_equal(bind_path(&p, name, 0, &l), 0);
    assert_int_equal(bind_path(&p, name, 0, &second), UV_EADDRINUSE);
    assert_string_equal(redd_listener_path(l), name);
    assert_int_equal(try_connect(name), 0);
    redd_listener_free(l);
    assert_int_equal(try_connect(name), UV_ECONNREFUSED);
    place_end(&p);
}

/* --- sockets that were given --- */

static int given_socket(bool listens)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof name), 0);
    if (listens)
        assert_int_equal(listen(fd, 5), 0);
    return fd;
}

static void test_adopt(void **state)
{
    (void)state;
    place p;
    redd_listener *l;
    place_begin(&p);
    int fd = given_socket(true);
    uint16_t port = socket_port(fd);
    assert_int_equal(redd_listener_adopt(p.f.rt, fd, &l), 0);
    assert_int_equal(port_of(l), port);
    assert_string_equal(redd_listener_path(l), "");
    assert_int_equal(redd_listener_balance(l), REDD_BALANCE_SHARED);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
    redd_listener_free(l);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    place_end(&p);
}

/** A socket file that a service manager made is its to remove. */
static void test_adopt_unix(void **state)
{
    (void)state;
    place p;
    redd_listener *l;
    place_begin(&p);
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    memcpy(name.sun_path, p.path, strlen(p.path));
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof name), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(redd_listener_adopt(p.f.rt, fd, &l), 0);
    assert_string_equal(redd_listener_path(l), p.path);
    redd_listener_free(l);
    assert_int_equal(unlink(p.path), 0);
    place_end(&p);
}

static void test_adopt_abstract(void **state)
{
    (void)state;
    place p;
    redd_listener *l;
    place_begin(&p);
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    (void)snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "redd-given-%d", (int)getpid());
    size_t n = offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name.sun_path + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&name, (socklen_t)n), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(redd_listener_adopt(p.f.rt, fd, &l), 0);
    assert_int_equal(redd_listener_path(l)[0], '@');
    assert_string_equal(redd_listener_path(l) + 1, name.sun_path + 1);
    assert_int_equal(try_connect(redd_listener_path(l)), 0);
    redd_listener_free(l);
    place_end(&p);
}

static void test_adopt_what_is_none(void **state)
{
    (void)state;
    place p;
    redd_listener *l = NULL;
    place_begin(&p);
    int fd = given_socket(true);
    redd_counting_allocator_fail_at(p.f.counting, 1, true);
    assert_int_equal(redd_listener_adopt(p.f.rt, fd, &l), UV_ENOMEM);
    redd_counting_allocator_fail_at(p.f.counting, 0, false);
    assert_int_equal(close(fd), 0);
    fd = given_socket(false);
    assert_int_equal(redd_listener_adopt(p.f.rt, fd, &l), UV_EINVAL);
    assert_int_equal(close(fd), 0); /* it is still the caller's */
    fd = open("/dev/null", O_RDONLY);
    assert_int_equal(redd_listener_adopt(p.f.rt, fd, &l), UV_ENOTSOCK);
    assert_int_equal(close(fd), 0);
    assert_int_equal(redd_listener_adopt(p.f.rt, fd, &l), UV_EBADF);
    fd = socket(AF_INET, SOCK_DGRAM, 0);
    assert_int_equal(redd_listener_adopt(p.f.rt, fd, &l), UV_EINVAL);
    assert_int_equal(close(fd), 0);
    assert_null(l);
    place_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mode),
        cmocka_unit_test(test_live_owner_stays),
        cmocka_unit_test(test_busy_owner_stays),
        cmocka_unit_test(test_live_datagram_socket_stays),
        cmocka_unit_test(test_stale_path_is_replaced),
        cmocka_unit_test(test_race_for_a_stale_path),
        cmocka_unit_test(test_locked_folder),
        cmocka_unit_test(test_other_files_stay),
        cmocka_unit_test(test_successor_stays),
        cmocka_unit_test(test_bad_paths),
        cmocka_unit_test(test_relative_path),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_abstract),
        cmocka_unit_test(test_adopt),
        cmocka_unit_test(test_adopt_unix),
        cmocka_unit_test(test_adopt_abstract),
        cmocka_unit_test(test_adopt_what_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
