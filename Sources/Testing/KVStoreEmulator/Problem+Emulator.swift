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
        detail: "the Host header names neither this machine nor a host of the emulator",
        hint: "use 127.0.0.1, [::1] or localhost in the URL, or start it with --host NAME")

    static let emulatedDevice = Problem(
        403, "emulated-device", "Device of an emulator",
        detail: "the name of a device in an emulator is part of its token", hint: "use another token")

    static let noPairing = Problem(
        403, "no-pairing", "No pairing", detail: "the emulator accepts any token",
        hint: "set UBIQUITY_DAEMON and UBIQUITY_TOKEN instead of joining")

    static let unknownWorld = Problem(
        404, "unknown-world", "Unknown world",
        detail: "no device has used a world of this name, and nothing was imported into it",
        hint: "GET /emulator/v1/worlds lists them")

    static let badWorldName = Problem(
        400, "bad-world-name", "Invalid world name", detail: "the name in the path is not what a token can name",
        hint: "GET /emulator/v1/worlds lists the names")

    static let unknownFault = Problem(
        404, "unknown-fault", "Unknown fault", detail: "the device has no fault with this id",
        hint: "GET the faults of the device to list them")

    static let signedOut = Problem(
        401, "signed-out", "Signed out", detail: "the device has no account",
        hint: "PUT /emulator/v1/worlds/{world}/devices/{device}/account gives it one")

    /// - Parameter account: that of the device; nil for none.
    static func otherAccount(_ account: String?) -> Problem {
        var problem = Problem(
            409, "other-account", "Other account",
            detail: account.map { "the device is signed in to the account \($0)" } ?? "the device is signed out",
            hint: "GET /v1/account names the account of the device and each that follows")
        problem.account = account
        return problem
    }

    static func throttled(seconds: Int) -> Problem {
        Problem(
            429, "too-many-requests", "Too many requests",
            detail: "a throttle of the emulator limits the requests of the device",
            hint: "wait, or remove the fault", retryAfterSeconds: seconds)
    }

    /// The answer of a request that a fault makes fail.
    static func emulated(_ status: Int, _ code: String, _ detail: String) -> Problem {
        Problem(
            status, code, "Emulated failure", detail: detail,
            hint: "remove the fault of the device, or wait for its end")
    }

    static func invalidFault(_ detail: String) -> Problem {
        Problem(
            400, "invalid-fault", "Invalid fault", detail: "\(detail); no fault was added",
            hint: "compare the request with docs/emulator.md")
    }

    static func invalidControl(_ detail: String) -> Problem {
        Problem(
            400, "invalid-control", "Invalid control", detail: "\(detail); nothing was changed",
            hint: "compare the request with docs/emulator.md")
    }

    static func tooManyFaults(limit: Int) -> Problem {
        Problem(
            409, "too-many-faults", "Too many faults", detail: "the device has \(limit) faults",
            limit: limit, hint: "remove some with DELETE")
    }

    /// A write that a strict world refuses, with the whole request.
    static func strict(_ violation: EmulatedWorld.Violation) -> Problem {
        Problem(
            422, "strict", "Refused by strict mode",
            detail: "\(violation.device): \(violation.call): \(violation.detail); "
                + "Apple's class does not store it, and the emulator refuses the request",
            limit: violation.limit, hint: "mend the call, or turn strict mode off")
    }

    static func invalidImport(_ detail: String) -> Problem {
        Problem(
            400, "invalid-import", "Invalid document", detail: "\(detail); nothing was changed",
            hint: "compare it with the answer to GET on the same path")
    }

    static func tooManyWorlds(limit: Int) -> Problem {
        Problem(
            507, "too-many-worlds", "Too many worlds", detail: "the emulator has \(limit) worlds", limit: limit,
            hint: "reset worlds that are not used any more with DELETE /emulator/v1/worlds/{world}")
    }

    static func tooManyDevices(limit: Int) -> Problem {
        Problem(
            507, "too-many-devices", "Too many devices", detail: "the emulator has \(limit) devices", limit: limit,
            hint: "reset worlds that are not used any more with DELETE /emulator/v1/worlds/{world}")
    }
}
