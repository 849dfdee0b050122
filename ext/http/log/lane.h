/* SPDX-License-Identifier: MIT */
/** A log on one worker. */
#ifndef REDD_HTTP_LOG_LANE_H
#define REDD_HTTP_LOG_LANE_H

#include "ext/http/state.h"

/** Writes what still waits on the worker, and frees its lanes. At the worker's end. */
void redd__log_lanes_release(redd__http_state *st);

#endif
