// A journal document as a response body.
#ifndef PENSTOCK_EMULATOR_SERVER_ADMIN_JOURNAL_BODY_H_
#define PENSTOCK_EMULATOR_SERVER_ADMIN_JOURNAL_BODY_H_

#include "emulator/journal/document.h"
#include "emulator/server/admin/admin_routes.h"
#include "emulator/server/admin/concurrency_limit.h"

namespace penstock::emulator::server {

// A short document is a string. A longer one counts towards `limit` until the response has been
// sent. Its pieces are made one at a time while it is sent, so that a slow client costs only one
// piece. They are read once and in order. Returns kUnavailable when no place is free.
Result<AdminBody> JournalBody(journal::Document document, ConcurrencyLimit& limit);

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_ADMIN_JOURNAL_BODY_H_
