/* SPDX-License-Identifier: MIT */
#include "runtime/cli/app_compile.h"

#include "runtime/cli/cache.h"
#include "runtime/cli/compiler.h"

#include <redd/error.h>
#include <redd/version.h>

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

typedef struct compilation {
    redd__compiler compiler;
    redd__cache cache;
    const char *source;   /* as the user named it */
    char input[PATH_MAX]; /* the same file in words that no compiler takes for a flag */
    EVP_MD_CTX *digest;
    char name[REDD__CACHE_NAME]; /* of the object in the cache: the key, and ".so" */
    bool temporary;              /* nobody will find the object again */
} compilation;

static int out_of_memory(redd__sentence *why)
{
    return redd__sentence_set(why, UV_ENOMEM, "out of memory");
}

/* What is left to say when the compiler has had its say. */
static int refuse_status(const compilation *c, int status, redd__sentence *why)
{
    const char *name = redd__compiler_name(&c->compiler);
    if (status < 0)
        return redd__sentence_set(why, status, "cannot run the C compiler %s: %s; CC names another",
                                  name, redd_error_text(status));
    return redd__sentence_set(why, REDD_EVALUE, "%s does not compile: %s ended with status %d",
                              c->source, name, status);
}

static int show(const char *text, size_t len)
{
    while (len > 0) {
        ssize_t n = write(STDERR_FILENO, text, len);
        if (n < 0 && errno != EINTR)
            return -errno;
        if (n > 0) {
            text += n;
            len -= (size_t)n;
        }
    }
    return 0;
}

/* Reads `fd` from its start, and hands the bytes to stderr or to the digest. */
static int drain(int fd, EVP_MD_CTX *digest)
{
    char buf[16384];
    if (lseek(fd, 0, SEEK_SET) < 0)
        return -errno;
    for (;;) {
        ssize_t n = read(fd, buf, sizeof(buf));
        if (n == 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return -errno;
        if (n < 0)
            continue;
        if (digest && !EVP_DigestUpdate(digest, buf, (size_t)n))
            return UV_ENOMEM;
        int err = digest ? 0 : show(buf, (size_t)n);
        if (err)
            return err;
    }
}

static int add_words(compilation *c)
{
    /* With their NULs, so that no two lists look alike. */
    for (size_t i = 0; i < c->compiler.n; i++) {
        const char *word = c->compiler.argv[i];
        if (!EVP_DigestUpdate(c->digest, word, strlen(word) + 1))
            return UV_ENOMEM;
    }
    char built_for[64];
    int n = snprintf(built_for, sizeof(built_for), "redd %s, ABI %d", REDD_VERSION, REDD_ABI);
    return EVP_DigestUpdate(c->digest, built_for, (size_t)n + 1) ? 0 : UV_ENOMEM;
}

/* With the clock held still (for compilers that know the variable): a source that uses __TIME__
 * would else have another key at each start, and the cache one more object. */
static int preprocess(compilation *c, int out, int err)
{
    static const char variable[] = "SOURCE_DATE_EPOCH";
    bool ours = !getenv(variable) && setenv(variable, "0", 0) == 0;
    int status = redd__compiler_preprocess(&c->compiler, c->input, out, err);
    if (ours)
        (void)unsetenv(variable);
    return status;
}

/* Adds what the compiler prints in one of its runs. What it says on stderr meanwhile is shown only
 * when it fails: warnings come again when it compiles. */
static int add_output(compilation *c, int out, int err, redd__sentence *why)
{
    int status = redd__compiler_version(&c->compiler, out, err);
    if (status == 0)
        status = preprocess(c, out, err);
    if (status != 0) {
        (void)drain(err, NULL);
        return refuse_status(c, status, why);
    }
    int failed = drain(out, c->digest);
    return failed ? redd__sentence_set(why, failed, "cannot read what %s printed: %s",
                                       redd__compiler_name(&c->compiler), redd_error_text(failed))
                  : 0;
}

static int finish_name(compilation *c, redd__sentence *why)
{
    unsigned char hash[EVP_MAX_MD_SIZE];
    unsigned len;
    if (!EVP_DigestFinal_ex(c->digest, hash, &len))
        return out_of_memory(why);
    char *at = c->name;
    for (unsigned i = 0; i < len; i++, at += 2)
        (void)snprintf(at, 3, "%02x", hash[i]);
    (void)snprintf(at, sizeof(".so"), ".so");
    return 0;
}

/* The key is the SHA-256 of all that decides what comes out: the compiler's words and version, this
 * redd, and the source with everything that it includes. */
static int find_name(compilation *c, redd__sentence *why)
{
    if (!EVP_DigestInit_ex(c->digest, EVP_sha256(), NULL) || add_words(c))
        return out_of_memory(why);
    int out = redd__cache_scratch(&c->cache, why);
    if (out < 0)
        return out;
    int err = redd__cache_scratch(&c->cache, why);
    int failed = err < 0 ? err : add_output(c, out, err, why);
    (void)close(out);
    if (err >= 0)
        (void)close(err);
    return failed ? failed : finish_name(c, why);
}

/* Gives a finished object its name, whole, so that another redd that starts now finds all of it or
 * nothing. When the source has changed since its key was made, nobody knows which state was
 * compiled: the object then keeps its temporary name, under which it is used this once. */
static int publish(compilation *c, const char *temporary, redd__sentence *why)
{
    char before[REDD__CACHE_NAME];
    memcpy(before, c->name, sizeof(before));
    int err = find_name(c, why);
    if (!err && strcmp(before, c->name) == 0)
        return redd__cache_rename(&c->cache, temporary, c->name, why);
    memcpy(c->name, temporary, sizeof(c->name));
    c->temporary = true;
    return err;
}

/* A compiler puts a file of its own in the place of the one that was made for it. The object
 * reaches the disk before its name does, so that no crash leaves a name without its content. */
static int secure_output(const compilation *c, const char *temporary, redd__sentence *why)
{
    int fd = redd__cache_find(&c->cache, temporary);
    int err = fd < 0 ? fd : 0;
    if (!err && fsync(fd) != 0)
        err = -errno;
    if (fd >= 0)
        (void)close(fd);
    return err ? redd__sentence_set(why, err, "cannot use what %s wrote to %s/%s: %s",
                                    redd__compiler_name(&c->compiler), c->cache.folder, temporary,
                                    redd_error_text(err))
               : 0;
}

static int compile_to(compilation *c, const char *temporary, redd__sentence *why)
{
    char path[PATH_MAX];
    int err = redd__cache_path(&c->cache, temporary, path, why);
    if (err)
        return err;
    int status = redd__compiler_compile(&c->compiler, c->input, path);
    if (status)
        return refuse_status(c, status, why);
    err = secure_output(c, temporary, why);
    return err ? err : publish(c, temporary, why);
}

static int compile(compilation *c, redd__sentence *why)
{
    char temporary[REDD__CACHE_NAME];
    int fd = redd__cache_temporary(&c->cache, ".so", temporary, why);
    if (fd < 0)
        return fd;
    (void)close(fd);
    redd__cache_sweep(&c->cache);
    int err = compile_to(c, temporary, why);
    if (err)
        redd__cache_remove(&c->cache, temporary);
    return err;
}

static int prepare(compilation *c, redd__sentence *why)
{
    if (!c->digest)
        return out_of_memory(why);
    int err = redd__cache_open(&c->cache, why);
    if (!err)
        err = redd__compiler_load(&c->compiler, why);
    return err ? err : find_name(c, why);
}

static bool is_cached(const compilation *c)
{
    int fd = redd__cache_find(&c->cache, c->name);
    if (fd >= 0)
        (void)close(fd);
    return fd >= 0;
}

static int load_entry(const compilation *c, redd__load_fn load, void *user, redd__sentence *why)
{
    char object[PATH_MAX];
    redd__cache_inner_path(&c->cache, c->name, object);
    int err = load(object, user, why);
    if (c->temporary)
        redd__cache_remove(&c->cache, c->name);
    return err;
}

/* What is in the cache but cannot be trusted, or does not load, is compiled anew and so replaced.
 */
static int load_source(compilation *c, redd__load_fn load, void *user, redd__sentence *why)
{
    int err = prepare(c, why);
    if (err)
        return err;
    if (is_cached(c)) {
        err = load_entry(c, load, user, why);
        if (err != UV_EINVAL)
            return err;
    }
    err = compile(c, why);
    return err ? err : load_entry(c, load, user, why);
}

static int spell(const char *folder, const char *path, char out[PATH_MAX], redd__sentence *why)
{
    int n = snprintf(out, PATH_MAX, "%s%s", folder, path);
    if (n < 0 || n >= PATH_MAX)
        return redd__sentence_set(why, UV_ENAMETOOLONG, "%s: name too long", path);
    return 0;
}

static int compile_and_load(const char *path, redd__load_fn load, void *user, redd__sentence *why)
{
    compilation c = {.cache.fd = -1, .source = path, .digest = EVP_MD_CTX_new()};
    /* "-x.c" would be a flag, "@x.c" a file of flags. */
    int err = spell(strchr("-@", path[0]) ? "./" : "", path, c.input, why);
    if (!err)
        err = load_source(&c, load, user, why);
    EVP_MD_CTX_free(c.digest);
    redd__compiler_fini(&c.compiler);
    redd__cache_close(&c.cache);
    return err;
}

static bool is_source(const char *path)
{
    size_t len = strlen(path);
    return len > 2 && strcmp(path + len - 2, ".c") == 0;
}

int redd__app_object(const char *path, redd__load_fn load, void *user, redd__sentence *why)
{
    char object[PATH_MAX];
    if (access(path, R_OK) != 0)
        return redd__sentence_set(why, -errno, "cannot read %s: %s", path, redd_error_text(-errno));
    if (is_source(path))
        return compile_and_load(path, load, user, why);
    /* With a folder, so that the system does not search its own for it. */
    int err = spell(strchr(path, '/') ? "" : "./", path, object, why);
    return err ? err : load(object, user, why);
}
