/* SPDX-License-Identifier: MIT */
#include "runtime/cli/hint.h"

#include <stdio.h>
#include <string.h>

#define HINT_MAX 31 /* longer words get no hint */

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Insertions, deletions, replacements and swaps of neighbours from one word to the other. */
static size_t edit_distance(const char *a, size_t na, const char *b, size_t nb)
{
    size_t row[HINT_MAX + 1][HINT_MAX + 1];
    for (size_t i = 0; i <= na; i++)
        row[i][0] = i;
    for (size_t j = 0; j <= nb; j++)
        row[0][j] = j;
    for (size_t i = 1; i <= na; i++) {
        for (size_t j = 1; j <= nb; j++) {
            size_t replace = row[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            size_t best = min3(row[i - 1][j] + 1, row[i][j - 1] + 1, replace);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = min3(best, best, row[i - 2][j - 2] + 1);
            row[i][j] = best;
        }
    }
    return row[na][nb];
}

void redd__hint_offer(redd__hint *h, const char *candidate)
{
    size_t na = strlen(h->word), nb = strlen(candidate);
    if (na == 0 || na > HINT_MAX || nb > HINT_MAX)
        return;
    size_t distance = edit_distance(h->word, na, candidate, nb);
    /* One slip in three letters is still a slip of the hand. */
    if (distance * 3 > nb + 2 || (h->best && distance >= h->distance))
        return;
    h->best = candidate;
    h->distance = distance;
}

const char *redd__hint_text(const redd__hint *h, const char *prefix, char *buf, size_t size)
{
    if (!h->best)
        return "";
    (void)snprintf(buf, size, "; did you mean %s%s?", prefix, h->best);
    return buf;
}
