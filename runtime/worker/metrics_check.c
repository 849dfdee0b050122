/* SPDX-License-Identifier: MIT */
/** What metrics may be declared: nothing that would make the text of all of them unreadable. */
#include "runtime/worker/core.h"
#include "runtime/worker/metrics.h"

#include <string.h>
#include <uv.h>

static bool is_name(const char *s)
{
    if (!s || !*s || (*s >= '0' && *s <= '9'))
        return false;
    for (; *s; s++)
        if (!((*s >= 'a' && *s <= 'z') || (*s >= '0' && *s <= '9') || *s == '_'))
            return false;
    return true;
}

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), k = strlen(end);
    return n > k && strcmp(s + n - k, end) == 0;
}

/** With these suffixes the samples of one metric could be those of another. */
static bool has_suffix(const char *name)
{
    static const char *const suffixes[] = {"_total", "_created", "_count",
                                           "_sum",   "_bucket",  "_info"};
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
        if (ends_with(name, suffixes[i]))
            return true;
    return false;
}

static bool unit_valid(const redd_metric *m)
{
    if (!m->unit)
        return true;
    size_t n = strlen(m->name), unit = strlen(m->unit);
    return is_name(m->unit) && ends_with(m->name, m->unit) && m->name[n - unit - 1] == '_';
}

static bool label_valid(const redd_metric *m)
{
    return !m->label || (is_name(m->label) && strncmp(m->label, "__", 2) != 0 &&
                         strcmp(m->label, "le") != 0 && strcmp(m->label, "worker") != 0);
}

static bool values_valid(const redd_metric *m)
{
    if (!m->label || !m->values)
        return m->n_values == 0 && !m->label;
    for (size_t i = 0; i < m->n_values; i++) {
        if (!m->values[i] || !*m->values[i])
            return false;
        for (size_t k = 0; k < i; k++)
            if (strcmp(m->values[i], m->values[k]) == 0)
                return false;
    }
    return m->n_values > 0;
}

static bool bounds_valid(const redd_metric *m)
{
    if (m->kind != REDD_METRIC_HISTOGRAM || !m->bounds)
        return m->n_bounds == 0 && m->kind != REDD_METRIC_HISTOGRAM;
    for (size_t i = 1; i < m->n_bounds; i++)
        if (m->bounds[i] <= m->bounds[i - 1])
            return false;
    return m->n_bounds > 0;
}

static bool scale_valid(uint64_t scale)
{
    while (scale > 0 && scale % 10 == 0)
        scale /= 10;
    return scale <= 1;
}

/** What is wrong with it, or NULL. */
static const char *fault_of(const redd_metric *m)
{
    if (!is_name(m->name))
        return "has a malformed name";
    if (has_suffix(m->name))
        return "has a name with a suffix that is OpenMetrics' own";
    if (!m->help || !*m->help)
        return "has no help";
    if ((unsigned)m->kind > REDD_METRIC_INFO)
        return "is of no known kind";
    if (m->kind == REDD_METRIC_INFO && (!m->label || m->unit || m->scale))
        return "is an info without a label, or with a unit or scale";
    if (!unit_valid(m))
        return "has a name that does not end in its unit";
    if (!label_valid(m))
        return "has a malformed label";
    if (!values_valid(m))
        return "has no label for its values, or missing, empty or repeated values";
    if (!bounds_valid(m))
        return "has bounds and is no histogram, or is one whose bounds are missing or do not "
               "ascend";
    if (!scale_valid(m->scale))
        return "has a scale that is no power of ten";
    return NULL;
}

/** Looks among `n` metrics. */
static bool has_metric(const redd_metric *metrics, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(metrics[i].name, name) == 0)
            return true;
    return false;
}

/** Who has declared metric `i` of `x` before, `x` itself among its first ones included. */
static const redd_extension *owner_of(const redd__extensions *e, const redd_extension *x, size_t i)
{
    const char *name = x->metrics[i].name;
    if (has_metric(x->metrics, i, name))
        return x;
    for (size_t k = 0; k < e->n; k++)
        if (has_metric(e->items[k]->metrics, e->items[k]->n_metrics, name))
            return e->items[k];
    return has_metric(redd__op_metrics, REDD__OP_N_METRICS, name) ? &redd__core_extension : NULL;
}

int redd__metrics_check(const redd__extensions *e, const redd_extension *x, redd__message *m)
{
    for (size_t i = 0; i < x->n_metrics; i++) {
        const redd_metric *metric = &x->metrics[i];
        const char *fault = fault_of(metric);
        if (fault)
            return redd__message_fail(m, UV_EINVAL, "metric \"%s\" of extension \"%s\" %s",
                                      metric->name ? metric->name : "", x->name, fault);
        const redd_extension *owner = owner_of(e, x, i);
        if (owner)
            return redd__message_fail(
                m, REDD_EDUPLICATE,
                "metric \"%s\" of extension \"%s\" is there already, in extension \"%s\"",
                metric->name, x->name, owner->name);
    }
    return 0;
}
