// A journal's document as the body of an answer.
#ifndef PENSTOCK_EMULATOR_SERVER_ADMIN_JOURNAL_BODY_H_
#define PENSTOCK_EMULATOR_SERVER_ADMIN_JOURNAL_BODY_H_

#include "emulator/journal/document.h"
#include "emulator/server/admin/admin_routes.h"
#include "emulator/server/places.h"

namespace penstock::emulator::server {

// A short document is text. A longer one takes one of `places` until the answer has left; its
// pieces are made while it leaves, one at a time, so that a client that reads slowly costs a piece.
// It is read once and in order. kUnavailable: no place is free.
Result<AdminBody> JournalBody(journal::Document document, Places& places);

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_ADMIN_JOURNAL_BODY_H_
