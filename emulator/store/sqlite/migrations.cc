#include "emulator/store/sqlite/migrations.h"

namespace penstock::emulator::store {

Result<std::int64_t> SchemaVersionOf(Connection& connection) {
  Query query(connection, "PRAGMA user_version");
  PENSTOCK_ASSIGN(const bool row, query.Step());
  return row ? query.Int(0) : 0;
}

Error WrongSchemaVersion(const std::string& path, std::int64_t version, std::int64_t supported) {
  const std::string fix =
      version > supported
          ? "use the newer build that wrote it, or another directory"
          : "upgrade it with penstock-emulator fsck --upgrade DIR, where DIR is the "
            "directory that --data names";
  return Error::Make(ErrorKind::kInvalidArgument,
                     "the database file " + path + " has schema version " +
                         std::to_string(version) + ", but this build uses version " +
                         std::to_string(supported) + "; " + fix);
}

Error MissingPageChecksums(const std::string& path) {
  return Error::Make(ErrorKind::kDataLoss,
                     "the header of the database file " + path +
                         " is damaged: page checksums are missing; restore the file");
}

Error ForeignDatabase(const std::string& path) {
  return Error::Make(
      ErrorKind::kInvalidArgument,
      "the database file " + path + " was not created by this emulator; choose another directory");
}

Result<void> Migrate(Connection& connection, std::span<const Migration> steps) {
  PENSTOCK_ASSIGN(const std::int64_t version, SchemaVersionOf(connection));
  for (const Migration& step : steps) {
    if (step.version <= version) continue;
    Result<void> done =
        connection.Execute(std::string("BEGIN IMMEDIATE;") + step.sql +
                           ";PRAGMA user_version=" + std::to_string(step.version) + ";COMMIT;");
    if (done.ok()) continue;
    connection.RollBack();
    return done;
  }
  return Ok();
}

}  // namespace penstock::emulator::store
