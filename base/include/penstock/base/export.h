// Marks what the shared libraries export.
//
//   namespace PENSTOCK_EXPORT penstock {
//   ...
//   }  // namespace penstock
//
// Every public header opens its namespace in this way: the shared libraries export what it declares
// and hide all other symbols. Programs that link them need the definition PENSTOCK_SHARED, which
// the CMake package and the pkg-config files pass to the compiler. Without it, nothing is exported.
#ifndef PENSTOCK_BASE_EXPORT_H_
#define PENSTOCK_BASE_EXPORT_H_

#if defined(PENSTOCK_SHARED)
#define PENSTOCK_EXPORT [[gnu::visibility("default")]]
#else
#define PENSTOCK_EXPORT
#endif

#endif  // PENSTOCK_BASE_EXPORT_H_
