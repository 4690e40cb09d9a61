// Waits on a Python thread for a download, and allocates the memory when an I/O thread asks for it.
#ifndef PENSTOCK_BINDINGS_CORE_CLIENT_READ_WAIT_H_
#define PENSTOCK_BINDINGS_CORE_CLIENT_READ_WAIT_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "penstock/client.h"
#include "penstock/transfer.h"

namespace penstock::python {

// Runs `request`, which has no destination, and waits for it. Calls `make_memory` on this thread,
// at most once, with the number of bytes that will arrive. So no I/O thread waits for the GIL.
// `interrupt` as in ObjectStore::Call. Called without the GIL.
Result<DownloadResponse> DownloadInto(
    std::shared_ptr<Client> client, DownloadRequest request,
    const std::function<Result<MutableByteView>(std::uint64_t)>& make_memory,
    const Interrupt& interrupt);

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_CLIENT_READ_WAIT_H_
