/* SPDX-License-Identifier: MIT */
#include "runtime/cli/arguments.h"

#include "runtime/cli/hint.h"

#include <redd/alloc.h>
#include <redd/error.h>

#include <string.h>
#include <uv.h>

static int refuse_unknown(const redd__arguments *a, const char *text, redd__sentence *why)
{
    char word[64], buf[96];
    size_t len = strcspn(text, "=");
    if (len >= sizeof(word))
        return redd__sentence_set(why, REDD_EVALUE, "unknown flag %s", text);
    memcpy(word, text, len);
    word[len] = '\0';
    redd__hint hint = {.word = word + strspn(word, "-")};
    for (const struct option *o = a->flags; o->name; o++)
        redd__hint_offer(&hint, o->name);
    return redd__sentence_set(why, REDD_EVALUE, "unknown flag %s%s", word,
                              redd__hint_text(&hint, "--", buf, sizeof(buf)));
}

/* NULL for a number that is no flag of the command. */
static const char *flag_name(const redd__arguments *a, int flag)
{
    const struct option *o = a->flags;
    while (o->name && o->val != flag)
        o++;
    return o->name;
}

/* getopt_long takes any unambiguous beginning of a flag; a flag added later would then break the
 * scripts that rely on it. */
static bool is_abbreviation(const redd__arguments *a, const char *text, int flag)
{
    if (strncmp(text, "--", 2) != 0)
        return false;
    const char *name = flag_name(a, flag);
    return strcspn(text + 2, "=") < strlen(name) &&
           strncmp(text + 2, name, strcspn(text + 2, "=")) == 0;
}

/* The argument that getopt_long has just looked at. */
static const char *current(char **argv, bool separate_value)
{
    return argv[optind - (separate_value ? 2 : 1)];
}

/* optopt is the letter of an unknown short flag, the `val` of a long one that got a value but takes
 * none, and 0 for an unknown long flag. */
static int refuse(const redd__arguments *a, const char *text, redd__sentence *why)
{
    if (!optopt)
        return refuse_unknown(a, text, why);
    const char *name = flag_name(a, optopt);
    if (name)
        return redd__sentence_set(why, REDD_EVALUE, "--%s takes no value", name);
    return redd__sentence_set(why, REDD_EVALUE, "unknown flag -%c", optopt);
}

static int take_one(const redd__arguments *a, int flag, char **argv, void *user,
                    redd__sentence *why)
{
    if (flag == ':')
        return redd__sentence_set(why, REDD_EVALUE, "--%s needs a value", flag_name(a, optopt));
    if (flag == '?')
        return refuse(a, current(argv, false), why);
    if (flag == 1)
        return a->take(0, optarg, user, why);
    bool separate = optarg && optarg == argv[optind - 1];
    if (is_abbreviation(a, current(argv, separate), flag))
        return refuse_unknown(a, current(argv, separate), why);
    return a->take(flag, optarg, user, why);
}

int redd__arguments_parse(const redd__arguments *a, int argc, char **argv, void *user,
                          redd__sentence *why)
{
    opterr = 0;
    optind = 1;
    for (;;) {
        /* "-": operands come in place, as flag 1. ":": a missing value is told apart. */
        int flag = getopt_long(argc, argv, "-:h", a->flags, NULL);
        if (flag == -1)
            break;
        int err = take_one(a, flag, argv, user, why);
        if (err)
            return err;
    }
    for (; optind < argc; optind++) { /* behind "--" */
        int err = a->take(0, argv[optind], user, why);
        if (err)
            return err;
    }
    return 0;
}

int redd__texts_init(redd__texts *t, size_t capacity)
{
    t->n = 0;
    t->at = redd_alloc_zero(redd_allocator_default(), capacity * sizeof(*t->at));
    return t->at ? 0 : UV_ENOMEM;
}

void redd__texts_fini(redd__texts *t, size_t capacity)
{
    redd_free(redd_allocator_default(), t->at, capacity * sizeof(*t->at));
}

void redd__texts_add(redd__texts *t, const char *text)
{
    t->at[t->n++] = text;
}
