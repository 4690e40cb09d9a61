// Result<T>: a value or an Error. Functions that can fail return it; exceptions do not cross
// modules.
#ifndef PENSTOCK_BASE_RESULT_H_
#define PENSTOCK_BASE_RESULT_H_

#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "penstock/base/check.h"
#include "penstock/base/error.h"
#include "penstock/base/export.h"

namespace PENSTOCK_EXPORT penstock {

// Either a T or an Error. Check ok() first: value() of an error, or error() of a value, aborts.
template <class T>
class [[nodiscard]] Result {
 public:
  using Value = T;
  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit on purpose
  Result(Error error)
      : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit on purpose

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & {
    PENSTOCK_CHECK(ok());
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    PENSTOCK_CHECK(ok());
    return *std::get_if<0>(&state_);
  }
  T&& value() && {
    PENSTOCK_CHECK(ok());
    return std::move(*std::get_if<0>(&state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  Error& error() & {
    PENSTOCK_CHECK(!ok());
    return *std::get_if<1>(&state_);
  }
  const Error& error() const& {
    PENSTOCK_CHECK(!ok());
    return *std::get_if<1>(&state_);
  }
  Error&& error() && {
    PENSTOCK_CHECK(!ok());
    return std::move(*std::get_if<1>(&state_));
  }

 private:
  std::variant<T, Error> state_;
};

// Success without a value: `return Ok();`.
template <>
class [[nodiscard]] Result<void> {
 public:
  using Value = void;
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit on purpose

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }

  Error& error() & {
    PENSTOCK_CHECK(!ok());
    return *error_;
  }
  const Error& error() const& {
    PENSTOCK_CHECK(!ok());
    return *error_;
  }
  Error&& error() && {
    PENSTOCK_CHECK(!ok());
    return std::move(*error_);
  }

 private:
  std::optional<Error> error_;
};

inline Result<void> Ok() { return {}; }

}  // namespace penstock

#define PENSTOCK_CONCAT_INNER_(a, b) a##b
#define PENSTOCK_CONCAT_(a, b) PENSTOCK_CONCAT_INNER_(a, b)

// PENSTOCK_TRY(expr): returns the error of a Result from the enclosing function. Drops the value.
#define PENSTOCK_TRY(expr)                                                  \
  do {                                                                      \
    auto penstock_result_ = (expr);                                         \
    if (!penstock_result_.ok()) return std::move(penstock_result_).error(); \
  } while (false)

// PENSTOCK_ASSIGN(auto x, expr): x becomes the value, or the enclosing function returns the error.
#define PENSTOCK_ASSIGN(declaration, expr) \
  PENSTOCK_ASSIGN_IMPL_(PENSTOCK_CONCAT_(penstock_result_, __LINE__), declaration, expr)
#define PENSTOCK_ASSIGN_IMPL_(result, declaration, expr) \
  auto result = (expr);                                  \
  if (!result.ok()) return std::move(result).error();    \
  declaration = std::move(result).value()

#endif  // PENSTOCK_BASE_RESULT_H_
