/* SPDX-License-Identifier: MIT */
#include "runtime/cli/app_compile.h"

#include "runtime/cli/cache.h"
#include "runtime/cli/compiler.h"

#include <redd/error.h>
#include <redd/version.h>

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

typedef struct compilation {
    redd__compiler compiler;
    redd__cache cache;
    const char *source;
    EVP_MD_CTX *digest;
    char key[2 * EVP_MAX_MD_SIZE + 1];
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

/* Reads `fd` from its start, and hands the bytes to stderr or to the digest. */
static int drain(int fd, EVP_MD_CTX *digest)
{
    char buf[16384];
    if (lseek(fd, 0, SEEK_SET) < 0)
        return -errno;
    for (;;) {
        ssize_t n = read(fd, buf, sizeof(buf));
        if (n <= 0)
            return n < 0 ? -errno : 0;
        if (digest && !EVP_DigestUpdate(digest, buf, (size_t)n))
            return UV_ENOMEM;
        if (!digest && write(STDERR_FILENO, buf, (size_t)n) < 0)
            return -errno;
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

/* Adds what the compiler prints in one of its runs. What it says on stderr meanwhile is shown only
 * when it fails: warnings come again when it compiles. */
static int add_output(compilation *c, int out, int err, redd__sentence *why)
{
    int status = redd__compiler_version(&c->compiler, out, err);
    if (status == 0)
        status = redd__compiler_preprocess(&c->compiler, c->source, out, err);
    if (status != 0) {
        (void)drain(err, NULL);
        return refuse_status(c, status, why);
    }
    int failed = drain(out, c->digest);
    return failed ? redd__sentence_set(why, failed, "cannot read what %s printed: %s",
                                       redd__compiler_name(&c->compiler), redd_error_text(failed))
                  : 0;
}

static int finish_key(compilation *c, redd__sentence *why)
{
    unsigned char hash[EVP_MAX_MD_SIZE];
    unsigned len;
    if (!EVP_DigestFinal_ex(c->digest, hash, &len))
        return out_of_memory(why);
    for (unsigned i = 0; i < len; i++)
        (void)snprintf(c->key + (size_t)2 * i, 3, "%02x", hash[i]);
    return 0;
}

/* SHA-256 of all that decides what comes out: the compiler's words and version, this redd, and the
 * source with everything that it includes. */
static int find_key(compilation *c, redd__sentence *why)
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
    return failed ? failed : finish_key(c, why);
}

/* Moves a finished object into place whole, so that another redd that starts now finds all of it or
 * nothing. When the source has changed since its key was made, nobody knows which state was
 * compiled: the object then keeps its temporary name, under which it is used this once. */
static int publish(compilation *c, const char *temporary, char object[PATH_MAX],
                   redd__sentence *why)
{
    char key[sizeof(c->key)];
    memcpy(key, c->key, sizeof(key));
    int err = find_key(c, why);
    if (err)
        return err;
    if (strcmp(key, c->key) != 0) {
        (void)snprintf(object, PATH_MAX, "%s", temporary);
        return 0;
    }
    if (rename(temporary, object) == 0)
        return 0;
    return redd__sentence_set(why, -errno, "cannot write %s: %s", object, redd_error_text(-errno));
}

static int compile_to(compilation *c, char object[PATH_MAX], redd__sentence *why)
{
    char temporary[PATH_MAX];
    int fd = redd__cache_temporary(&c->cache, ".so", temporary, why);
    if (fd < 0)
        return fd;
    (void)close(fd);
    int status = redd__compiler_compile(&c->compiler, c->source, temporary);
    int err = status ? refuse_status(c, status, why) : publish(c, temporary, object, why);
    if (err)
        (void)unlink(temporary);
    return err;
}

static int compile(compilation *c, char object[PATH_MAX], redd__sentence *why)
{
    int err = redd__cache_open(&c->cache, why);
    if (!err)
        err = redd__compiler_load(&c->compiler, why);
    if (!err)
        err = find_key(c, why);
    if (!err)
        err = redd__cache_path(&c->cache, c->key, ".so", object, why);
    if (err || access(object, R_OK) == 0)
        return err;
    return compile_to(c, object, why);
}

static bool is_source(const char *path)
{
    size_t len = strlen(path);
    return len > 2 && strcmp(path + len - 2, ".c") == 0;
}

int redd__app_object(const char *path, char object[PATH_MAX], redd__sentence *why)
{
    if (access(path, R_OK) != 0)
        return redd__sentence_set(why, -errno, "cannot read %s: %s", path, redd_error_text(-errno));
    if (!is_source(path)) {
        const char *folder = strchr(path, '/') ? "" : "./";
        int n = snprintf(object, PATH_MAX, "%s%s", folder, path);
        return n < PATH_MAX ? 0
                            : redd__sentence_set(why, UV_ENAMETOOLONG, "%s: name too long", path);
    }
    compilation c = {.source = path, .digest = EVP_MD_CTX_new()};
    int err = c.digest ? compile(&c, object, why) : out_of_memory(why);
    EVP_MD_CTX_free(c.digest);
    redd__compiler_fini(&c.compiler);
    return err;
}
