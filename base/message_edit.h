// A function of the program that edits the messages of all errors and the texts of all log records,
// for example to replace internal names.
#ifndef PENSTOCK_BASE_MESSAGE_EDIT_H_
#define PENSTOCK_BASE_MESSAGE_EDIT_H_

#include <string>

namespace penstock::internal {

// Must be callable from any thread at any time.
using MessageEdit = std::string (*)(std::string text);

// Replaces the function of the process. Thread safety: any thread.
void SetMessageEdit(MessageEdit edit);
// Returns `text` as the function of the process edits it. Without a function: `text`.
std::string Edited(std::string text);

}  // namespace penstock::internal

#endif  // PENSTOCK_BASE_MESSAGE_EDIT_H_
