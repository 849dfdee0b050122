/* SPDX-License-Identifier: MIT */
#include "runtime/worker/settings.h"

#include <string.h>
#include <uv.h>

static void drop_text(const redd__settings *s, redd__setting *setting)
{
    if (setting->text)
        redd_free(s->alloc, setting->text, strlen(setting->text) + 1);
    setting->text = NULL;
}

void redd__settings_fini(redd__settings *s)
{
    for (size_t i = 0; i < s->n; i++)
        drop_text(s, &s->items[i]);
    redd_free(s->alloc, s->items, s->n * sizeof(*s->items));
    s->items = NULL;
    s->n = 0;
}

int redd__settings_declare(redd__settings *s, const redd_extension *extension)
{
    size_t n = s->n + extension->n_options;
    if (n == s->n)
        return 0;
    redd__setting *items =
        s->alloc->resize(s->alloc, s->items, s->n * sizeof(*items), n * sizeof(*items));
    if (!items)
        return UV_ENOMEM;
    for (size_t i = 0; i < extension->n_options; i++) {
        const redd_option *o = &extension->options[i];
        items[s->n + i] = (redd__setting){o, extension, o->default_value, NULL};
    }
    s->items = items;
    s->n = n;
    return 0;
}

redd__setting *redd__settings_find(const redd__settings *s, const char *name)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->items[i].option->name, name) == 0)
            return &s->items[i];
    return NULL;
}

static int keep_text(const redd__settings *s, redd__setting *setting, const char *value)
{
    char *copy = redd_alloc_string(s->alloc, value, strlen(value));
    if (!copy)
        return UV_ENOMEM;
    drop_text(s, setting);
    setting->text = copy;
    return 0;
}

int redd__settings_set(redd__settings *s, const char *name, const char *value, redd__message *m)
{
    redd__setting *setting = redd__settings_find(s, name);
    if (!setting)
        return redd__message_fail(m, REDD_EOPTION, "there is no option \"%s\"", name);
    uint64_t parsed;
    if (redd__option_parse(setting->option, value, &parsed) == 0) {
        if (setting->option->unit == REDD_UNIT_TEXT && keep_text(s, setting, value))
            return redd__message_fail(m, UV_ENOMEM, "option \"%s\": out of memory", name);
        setting->value = parsed;
        return 0;
    }
    char expected[128];
    redd__option_expected(setting->option, expected, sizeof(expected));
    return redd__message_fail(m, REDD_EVALUE, "option \"%s\" cannot be \"%s\": expected %s", name,
                              value, expected);
}
