/* SPDX-License-Identifier: MIT */
#include "runtime/cli/settings.h"

#include "runtime/cli/hint.h"
#include "runtime/worker/option.h"

#include <string.h>

static const redd_extension *next_extension(const redd_runtime *rt, size_t *i)
{
    return redd_runtime_extension(rt, (*i)++);
}

static int refuse_name(const redd_runtime *rt, const char *name, redd__sentence *why)
{
    redd__hint hint = {.word = name};
    char buf[96];
    size_t i = 0;
    for (const redd_extension *e = next_extension(rt, &i); e; e = next_extension(rt, &i)) {
        for (size_t o = 0; o < e->n_options; o++)
            redd__hint_offer(&hint, e->options[o].name);
    }
    const char *more = redd__hint_text(&hint, "", buf, sizeof(buf));
    return redd__sentence_set(why, REDD_EOPTION, "--set %s: no such option%s", name,
                              *more ? more : "; `redd serve --help` lists them");
}

int redd__settings_apply(redd_runtime *rt, const char *text, redd__sentence *why)
{
    char name[128];
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return redd__sentence_set(why, REDD_EVALUE, "--set %s: expected NAME=VALUE", text);
    size_t len = (size_t)(equals - text);
    if (len >= sizeof(name))
        len = sizeof(name) - 1; /* longer than every option's name, and so no option */
    memcpy(name, text, len);
    name[len] = '\0';
    int err = redd_runtime_set(rt, name, equals + 1);
    if (err == REDD_EOPTION)
        return refuse_name(rt, name, why);
    return err ? redd__sentence_set(why, err, "--set: %s", redd_runtime_message(rt)) : 0;
}

static void format_default(const redd_option *o, char *buf, size_t size)
{
    if (o->unit == REDD_UNIT_TEXT) {
        (void)snprintf(buf, size, "none");
        return;
    }
    redd__option_format(o, o->default_value, buf, size);
    size_t n = strlen(buf);
    if (o->unit == REDD_UNIT_BYTES)
        (void)snprintf(buf + n, size - n, " bytes");
}

void redd__settings_print(const redd_runtime *rt, FILE *to)
{
    size_t i = 0;
    for (const redd_extension *e = next_extension(rt, &i); e; e = next_extension(rt, &i)) {
        if (e->n_options == 0)
            continue;
        (void)fprintf(to, "\nOptions of %s, for --set NAME=VALUE:\n", e->name);
        for (size_t o = 0; o < e->n_options; o++) {
            const redd_option *option = &e->options[o];
            char value[32];
            format_default(option, value, sizeof(value));
            (void)fprintf(to, "  %-20s %-10s %s\n", option->name, value, option->help);
        }
    }
}
