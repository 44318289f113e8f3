package import KVStoreCore
package import KVStoreLog
package import KVStoreWire
import NIOHTTP1
import LocalFiles

/// Every error answer, in the order of its status. `docs/protocol.md` lists the codes.
extension Problem {
    // MARK: 400

    package static func malformed(_ detail: String) -> Problem {
        Problem(
            400, "malformed", "Malformed request", detail: detail, hint: "compare the request with docs/protocol.md")
    }

    static func tooDeep(limit: Int) -> Problem {
        Problem(
            400, "too-deep", "JSON nested too deeply", detail: "arrays and objects may nest \(limit) levels deep",
            limit: limit, hint: "compare the request with docs/protocol.md")
    }

    static let unexpectedBody = Problem(
        400, "unexpected-body", "Unexpected request body", detail: "a request with this method has no body",
        hint: "remove Content-Length and Transfer-Encoding")

    package static let badStoreName = Problem(
        400, "bad-store-name", "Invalid store name",
        detail:
            "a store name has 1 to \(WireLimits.storeNameByteCount) characters of A-Z a-z 0-9 . _ - and no leading dot",
        limit: WireLimits.storeNameByteCount, hint: "choose another name")

    package static let badKey = Problem(
        400, "bad-key", "Invalid key",
        detail: "a key is percent-encoded UTF-8 of 1 to \(KeyProfile.standard.limit) UTF-16 units",
        limit: KeyProfile.standard.limit, hint: "use a shorter key, and percent-encode it")

    static let tlsRequired = Problem(
        400, "tls-required", "TLS required",
        detail: "this port speaks TLS: use https://, or join with the line that 'kvsd pair' prints",
        hint: "use https://, or run 'kvsd pair' on the server")

    static func badDeviceName(_ name: String) -> Problem {
        Problem(
            400, "bad-device-name", "Invalid device name",
            detail: "'\(name.printable(scalarLimit: 64))' is not one line of 1 to 64 bytes",
            limit: 64, hint: "choose another name")
    }

    // MARK: 401, 403, 404

    package static let unauthorized = Problem(
        401, "unauthorized", "Invalid token", detail: "the Authorization header has no token that this server knows",
        hint: "run 'kvsd device add NAME' on the server and join again")

    /// The browser of a page has removed the cookie, or refuses to send it.
    static let missingCookie = Problem(
        401, "no-cookie", "No cookie", detail: "the request has one half of a page's session, and lacks the cookie",
        hint: signInAgain)

    static func missing(_ scope: DeviceScope) -> Problem {
        let (code, title, hint) =
            switch scope {
            case .read: ("no-read", "Write-only device", "add another device on the server")
            case .write:
                ("read-only", "Read-only device", "add the device without --read-only on the server")
            case .admin:
                (
                    "no-admin", "Not an administrator",
                    "use 'kvsd device' on the server, or add the device with --admin there"
                )
            }
        return Problem(403, code, title, detail: "the token lacks the scope '\(scope.rawValue)'", hint: hint)
    }

    package static let foreignOrigin = Problem(
        403, "foreign-origin", "Foreign origin", detail: "the Origin header names another site than the Host header",
        hint: "a page of another site cannot use this server")

    /// A browser would not keep the cookie.
    static let insecurePage = Problem(
        403, "insecure-page", "Insecure page",
        detail: "only a page of this server signs in, over TLS or on loopback",
        hint: "open the page with https://; 'kvsd certificate' on the server lists its addresses")

    /// For every code of which the secret part is wrong or unknown.
    static let wrongCode = Problem(
        403, "wrong-code", "Wrong code", detail: "the server has no such pairing code", hint: pairAgain)

    /// Also for a store that the token does not permit: the two must be indistinguishable.
    package static let unknownStore = Problem(
        404, "unknown-store", "Unknown store",
        detail: "the account has no store of this name that the device may see",
        hint:
            "the first sync or PUT of a device with the scope 'write' creates a store; GET /v1/stores lists them"
    )

    /// Also for a device of another account: the two must be indistinguishable.
    static let unknownDevice = Problem(
        404, "unknown-device", "Unknown device",
        detail: "the account has no device with this id", hint: "GET /v1/devices lists them")

    package static let unknownKey = Problem(
        404, "unknown-key", "Unknown key", detail: "the store has no value for this key",
        hint: "GET /v1/stores/{store}/keys lists the keys")

    static let noAuthority = Problem(
        404, "no-authority", "No authority",
        detail: "the certificate of this server was not issued by a private authority",
        hint:
            "'kvsd certificate' on the server says which certificate it has and how to get another")

    package static let unknownPath = Problem(
        404, "unknown-path", "Unknown path", detail: "no resource has this path", hint: "see docs/protocol.md")

    // MARK: 405 to 431

    static func method(_ allowed: [HTTPMethod]) -> Problem {
        Problem(
            405, "method", "Method not allowed",
            detail: "this resource supports \(allowed.map(\.rawValue).joined(separator: ", "))",
            hint: "see docs/protocol.md")
    }

    static func deviceRefused(_ detail: String) -> Problem {
        Problem(
            409, "device-refused", "Device refused", detail: detail, hint: "remove devices that are not used any more")
    }

    static func duplicateDeviceName(_ name: String) -> Problem {
        Problem(
            409, "duplicate-device-name", "Duplicate device name",
            detail: "the account already has a device '\(name)'", hint: "choose another name")
    }

    // Only for those who know the code.

    static let pageCode = Problem(
        403, "page-code", "Code of a page", detail: "this code signs in a web page, not a program",
        hint: "open the address that was printed with it in a browser, or run 'kvsd pair'")

    static let programCode = Problem(
        403, "program-code", "Code of a program", detail: "this code joins a program, not a web page",
        hint: signInAgain)

    static let usedCode = Problem(
        410, "used-code", "Used code", detail: "a device has been added with this code already", hint: pairAgain)

    static let expiredCode = Problem(
        410, "expired-code", "Expired code", detail: "a code is valid for ten minutes", hint: pairAgain)

    static let voidCode = Problem(
        410, "void-code", "Void code", detail: "someone has guessed at this code \(Pairing.wrongCodeLimit) times",
        limit: Pairing.wrongCodeLimit, hint: "check who can reach the server; then " + pairAgain)

    static let withdrawnCode = Problem(
        410, "void-code", "Void code", detail: "the device that made this code has been removed", hint: pairAgain)

    static let pairAgain = "run 'kvsd pair' on the server and join with the new line"
    static let signInAgain = "run 'kvsd pair --page' on the server and open the address that it prints"

    package static let changedMeanwhile = Problem(
        412, "changed-meanwhile", "Changed meanwhile",
        detail: "the key does not have the value that If-Match or If-None-Match expects; nothing was stored",
        hint: "get the value, and decide which of the two is to stay")

    static func requestTimeout(seconds: Int) -> Problem {
        Problem(
            408, "timeout", "Request timed out", detail: "the body did not arrive within \(seconds) s", limit: seconds,
            hint: "send it again over a faster connection")
    }

    package static func bodyTooLarge(limit: Int) -> Problem {
        Problem(
            413, "body-too-large", "Request body too large", detail: "a request body may have \(limit) bytes",
            limit: limit, hint: "send a shorter body, with its Content-Length")
    }

    static func tooManyChanges(limit: Int) -> Problem {
        Problem(
            413, "too-many-changes", "Too many changes in one request", detail: "a request may carry \(limit) changes",
            limit: limit, hint: "send fewer changes at a time")
    }

    static let contentEncoding = Problem(
        415, "content-encoding", "Unsupported content encoding",
        detail: "request bodies are not decoded", hint: "send the body without compression")

    static func mediaType(_ expected: String) -> Problem {
        Problem(
            415, "media-type", "Unsupported media type", detail: "expected \(expected)",
            hint: "set the Content-Type header")
    }

    static func tooManyRequests(waitMilliseconds: Int64, perSecond: Int) -> Problem {
        Problem(
            429, "rate", "Too many requests", detail: "a device may send \(perSecond) requests per second",
            limit: perSecond, hint: "wait as long as Retry-After says", retryAfterSeconds: seconds(waitMilliseconds))
    }

    static func tooManyFailures(waitMilliseconds: Int64, perMinute: Int) -> Problem {
        Problem(
            429, "failed-authentications", "Too many failed authentications",
            detail: "an address may fail \(perMinute) times per minute", limit: perMinute,
            hint: "check the token, and wait as long as Retry-After says", retryAfterSeconds: seconds(waitMilliseconds))
    }

    static func tooManyStreams(limit: Int) -> Problem {
        Problem(
            429, "too-many-streams", "Too many live streams", detail: "a device may have \(limit) live streams open",
            limit: limit, hint: "close some of them", retryAfterSeconds: 15)
    }

    static func headersTooLarge(limit: Int) -> Problem {
        Problem(
            431, "headers-too-large", "Request headers too large",
            detail: "all headers together may have \(limit) bytes", limit: limit, hint: "send fewer headers")
    }

    // MARK: 503

    package static let busy = Problem(
        503, "busy", "Server busy", detail: "too many requests wait for the disk, or their bodies take too much memory",
        hint: "try again", retryAfterSeconds: 2)

    /// Not an answer: the request waited for the log's next segment and can be applied now.
    static let again = Problem(
        503, "busy", "Server busy", detail: "the log needed its next segment", hint: "try again", retryAfterSeconds: 2)

    static func tooManyConnections(limit: Int) -> Problem {
        Problem(
            503, "too-many-connections", "Too many connections", detail: "the server accepts \(limit) connections",
            limit: limit, hint: "try again", retryAfterSeconds: 5)
    }

    package static let stopping = Problem(
        503, "stopping", "Server stopping", detail: "nothing of this request was stored",
        hint: "try again", retryAfterSeconds: 2)

    package static let outcomeUnknown = Problem(
        503, "outcome-unknown", "No answer in time", detail: "the changes may or may not have been stored",
        hint: "send the same request again: nothing is stored twice", retryAfterSeconds: 5)

    static let diskFailed = Problem(
        503, "disk-failed", "Disk failed",
        detail:
            "writing to the disk failed; no change is accepted until it works, and the last may have been stored",
        hint: "check the server's log and disk; it needs no restart", retryAfterSeconds: 5)

    package static let databaseUnavailable = Problem(
        503, "database-unavailable", "Database unavailable", detail: "the database cannot be used; nothing was stored",
        hint: "send the request again: it needs no restart of the server", retryAfterSeconds: 5)

    package static let databaseMoved = Problem(
        503, "database-moved", "Data moved",
        detail: "all data of this server has moved to another one; nothing was stored",
        hint:
            "stop this server, and use the one that has the data now; 'kvsd migrate --to' moves it back",
        retryAfterSeconds: 60)

    /// Nil for an error that is not of a database.
    package static func ofDatabase(_ error: ServerError) -> Problem? {
        switch error.code {
        case .database: .databaseUnavailable
        case .databaseMoved: .databaseMoved
        default: nil
        }
    }

    package static let databaseFailed = Problem(
        503, "database-failed", "Database failed", detail: "the database refused the request; nothing was stored",
        hint: "check the log of the server", retryAfterSeconds: 60)

    package static let databaseFull = Problem(
        507, "disk-full", "Disk full", detail: "the disk of the database is full; nothing was stored",
        hint: "free space there; the server needs no restart", retryAfterSeconds: 60)

    static let pairingFailed = Problem(
        503, "pairing-failed", "Cannot pair", detail: "the server cannot write its files",
        hint: "check the server's log and disk", retryAfterSeconds: 60)

    static let deviceChangeFailed = Problem(
        503, "device-change-failed", "Cannot change devices", detail: "the server cannot write its files",
        hint: "check the server's log and disk", retryAfterSeconds: 60)

    /// Problems of a single request whose cause is on the server. A failed or full disk, which concerns all, is
    /// logged once by the storage engine.
    static let codesOfFailures: Set<String> = [
        outcomeUnknown.code, pairingFailed.code, deviceChangeFailed.code, "write-failed",
    ]

    /// A failed write to the log. Paths on the server stay private.
    package init(_ error: LogError) {
        func detail(_ failure: FileError) -> String {
            "cannot \(failure.operation) a file of the log: \(failure.message); nothing was stored"
        }
        switch error {
        case .storage(let failure) where failure.isOutOfSpace:
            self.init(
                507, "disk-full", "Disk full", detail: detail(failure),
                hint: "free space on the server; it needs no restart", retryAfterSeconds: 60)
        case .storage(let failure):
            self.init(
                503, "write-failed", "Write failed", detail: detail(failure),
                hint: "check the server's disk; later writes may succeed", retryAfterSeconds: 5)
        case .full(let limit):
            self.init(
                507, "memory-full", "Memory limit reached",
                detail: "all keys and values of all stores may take \(limit) bytes of memory", limit: limit,
                hint: "remove keys, or restart kvsd with a larger --memory-limit", retryAfterSeconds: 60)
        case .accountFull(let limit):
            self.init(
                507, "account-full", "Account full",
                detail: "all keys and values of the account may take \(limit) bytes of memory",
                limit: limit,
                hint:
                    "remove stores or keys, or raise the limit on the server with 'kvsd account limit'",
                retryAfterSeconds: 60)
        case .tooManyStores(let limit): self = .tooManyStores(limit: limit)
        case .closedByFailure(let failure) where failure.isOutOfSpace:
            self.init(
                507, "disk-full", "Disk full",
                detail:
                    "the disk is full; no change is accepted, and the last may have been stored",
                hint: "free space on the server; it needs no restart", retryAfterSeconds: 60)
        case .needsSegment: self = .again
        case .damaged, .incompatible, .closedByFailure, .removed, .tooLarge: self = .diskFailed
        }
    }

    /// Why the write of one key was rejected.
    package init(_ reason: SyncRejection.Reason) {
        switch reason {
        case .quota(let limit):
            let ceiling = StoreLimits.ceiling
            let detail =
                switch limit {
                case ceiling.keyCount: "a store may have \(limit) keys"
                case ceiling.valueByteCount: "a value may have \(limit) bytes"
                case ceiling.totalByteCount: "all values of a store may have \(limit) bytes"
                default: "the change would exceed a limit of the store, which is \(limit)"
                }
            self.init(507, "quota", "Store full", detail: detail, limit: limit, hint: "remove keys, or store less")
        case .clock:
            self.init(
                503, "clock", "Key written in the future",
                detail: "the present value's stamp is far ahead of the server's clock",
                hint: "check the server's clock", retryAfterSeconds: 60)
        case .key, .again: self = .badKey
        }
    }

    package static func tooManyStores(limit: Int) -> Problem {
        Problem(
            507, "too-many-stores", "Too many stores", detail: "the account may have \(limit) stores", limit: limit,
            hint: "remove stores, or raise the limit on the server with 'kvsd account limit'")
    }

    private static func seconds(_ milliseconds: Int64) -> Int {
        max(1, Int((milliseconds + 999) / 1_000))
    }
}
