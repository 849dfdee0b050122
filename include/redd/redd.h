/* SPDX-License-Identifier: MIT */
/** Everything. Each header also stands alone. */
#ifndef REDD_REDD_H
#define REDD_REDD_H

#include <redd/access_log.h>
#include <redd/alloc.h>
#include <redd/api.h>
#include <redd/app.h>
#include <redd/buffer.h>
#include <redd/bytes.h>
#include <redd/cancel.h>
#include <redd/error.h>
#include <redd/extension.h>
#include <redd/future.h>
#include <redd/http.h>
#include <redd/http_events.h>
#include <redd/http_form.h>
#include <redd/http_metrics.h>
#include <redd/http_router.h>
#include <redd/http_static.h>
#include <redd/listener.h>
#include <redd/log.h>
#include <redd/metrics.h>
#include <redd/op.h>
#include <redd/output.h>
#include <redd/resource.h>
#include <redd/runtime.h>
#include <redd/slice.h>
#include <redd/stream.h>
#include <redd/task.h>
#include <redd/timer.h>
#include <redd/value.h>
#include <redd/version.h>
#include <redd/websocket.h>
#include <redd/worker.h>

#endif
