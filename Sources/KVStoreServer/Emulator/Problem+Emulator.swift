import KVStoreWire

/// The errors that only an emulator answers. `docs/emulator.md` lists them.
extension Problem {
    static let invalidWorldToken = Problem(
        401, "unauthorized", "Invalid token",
        detail:
            "the emulator accepts any token of the form WORLD or WORLD/DEVICE: 1 to \(WorldToken.byteLimit) characters of A-Z a-z 0-9 - . _ ~ + / with = only at the end",
        limit: WorldToken.byteLimit, hint: "send Authorization: Bearer default/phone")

    static let foreignHost = Problem(
        403, "foreign-host", "Foreign host",
        detail: "the Host header does not name this machine",
        hint: "use 127.0.0.1, [::1] or localhost in the URL")

    static let emulatedDevice = Problem(
        403, "emulated-device", "Device of an emulator",
        detail: "the name of a device in an emulator is part of its token",
        hint: "use another token")

    static let noPairing = Problem(
        403, "no-pairing", "No pairing", detail: "the emulator accepts any token",
        hint: "set UBIQUITY_DAEMON and UBIQUITY_TOKEN instead of joining")

    static let unknownWorld = Problem(
        404, "unknown-world", "Unknown world",
        detail: "no device has used a world of this name, and nothing was imported into it",
        hint: "GET /emulator/v1/worlds lists them")

    static let badWorldName = Problem(
        400, "bad-world-name", "Invalid world name",
        detail: "the name in the path is not what a token can name",
        hint: "GET /emulator/v1/worlds lists the names")

    static func invalidImport(_ detail: String) -> Problem {
        Problem(
            400, "invalid-import", "Invalid document",
            detail: "\(detail); nothing was changed",
            hint: "compare it with the answer to GET on the same path")
    }

    static func tooManyWorlds(limit: Int) -> Problem {
        Problem(
            507, "too-many-worlds", "Too many worlds",
            detail: "the emulator has \(limit) worlds", limit: limit,
            hint: "reset worlds that are not used any more with DELETE /emulator/v1/worlds/{world}")
    }

    static func tooManyDevices(limit: Int) -> Problem {
        Problem(
            507, "too-many-devices", "Too many devices",
            detail: "the emulator has \(limit) devices", limit: limit,
            hint: "reset worlds that are not used any more with DELETE /emulator/v1/worlds/{world}")
    }
}
