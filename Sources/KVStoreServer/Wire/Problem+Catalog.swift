import HTTPTypes
import KVStore

/// Every answer that says no, in the order of its status. `docs/protocol.md` lists the codes.
extension Problem {
    // MARK: 400

    static func malformed(_ detail: String) -> Problem {
        Problem(
            .badRequest, "malformed", "The request is not understood", detail: detail,
            hint: "compare it with docs/protocol.md")
    }

    static var unexpectedBody: Problem {
        Problem(
            .badRequest, "unexpected-body", "Unexpected request body",
            detail: "a request with this method has no body",
            hint: "remove Content-Length and Transfer-Encoding")
    }

    static func tooDeep(limit: Int) -> Problem {
        Problem(
            .badRequest, "too-deep", "The JSON nests too deep",
            detail: "at most \(limit) levels of arrays and objects are read", limit: limit,
            hint: "send what docs/protocol.md describes")
    }

    static var badStoreName: Problem {
        Problem(
            .badRequest, "bad-store-name", "That is no store name",
            detail: "a store name has 1 to 128 of A-Z a-z 0-9 . _ - and no dot in front",
            limit: WireLimits.storeNameByteCount, hint: "use another name")
    }

    static var badKey: Problem {
        Problem(
            .badRequest, "bad-key", "That is no key",
            detail: "a key has 1 to \(KeyProfile.standard.limit) UTF-16 units",
            limit: KeyProfile.standard.limit, hint: "use a shorter key")
    }

    // MARK: 401, 403, 404

    static var unauthorized: Problem {
        Problem(
            .unauthorized, "unauthorized", "A token is needed",
            detail: "the Authorization header has no token that this daemon knows",
            hint: "join again: run 'kvsd device add NAME' where the daemon runs")
    }

    static var readOnly: Problem {
        Problem(
            .forbidden, "read-only", "This device may only read",
            detail: "its token has no scope 'write'",
            hint: "add a device without --read-only where the daemon runs")
    }

    static var writeOnly: Problem {
        Problem(
            .forbidden, "no-read", "This device may not read",
            detail: "its token has no scope 'read'",
            hint: "add another device where the daemon runs")
    }

    /// Also for a store that a token may not see: the two must look the same.
    static var unknownStore: Problem {
        Problem(
            .notFound, "unknown-store", "There is no such store",
            detail: "the account has no store of this name that the device may see",
            hint: "a store comes to be with the first sync or put; see GET /v1/stores")
    }

    static var unknownKey: Problem {
        Problem(
            .notFound, "unknown-key", "There is no such key",
            detail: "the store has no value under this key",
            hint: "see GET /v1/stores/{store}/keys")
    }

    static var unknownPath: Problem {
        Problem(
            .notFound, "unknown-path", "There is nothing here",
            detail: "no resource of this daemon has this path and method",
            hint: "see docs/protocol.md")
    }

    // MARK: 408 to 431

    static func requestTimeout(milliseconds: Int64) -> Problem {
        Problem(
            .requestTimeout, "timeout", "The request took too long",
            detail: "its body did not come within \(milliseconds / 1_000) s",
            limit: Int(milliseconds / 1_000), hint: "send it again, over a better connection")
    }

    static func bodyTooLarge(limit: Int) -> Problem {
        Problem(
            .contentTooLarge, "body-too-large", "The body is too large",
            detail: "a request body has at most \(limit) bytes", limit: limit,
            hint: "send fewer changes at a time")
    }

    static func tooManyChanges(limit: Int) -> Problem {
        Problem(
            .contentTooLarge, "too-many-changes", "Too many changes in one request",
            detail: "a request carries at most \(limit) changes", limit: limit,
            hint: "send fewer changes at a time")
    }

    static var encodingNotAccepted: Problem {
        Problem(
            .unsupportedMediaType, "content-encoding", "Bodies are taken as they are",
            detail: "a body with a Content-Encoding is not unpacked",
            hint: "send it without compression")
    }

    static func mediaType(_ expected: String) -> Problem {
        Problem(
            .unsupportedMediaType, "media-type", "The body has another type than expected",
            detail: "expected \(expected)", hint: "set the Content-Type header")
    }

    static func tooManyRequests(waitMilliseconds: Int64, perSecond: Int) -> Problem {
        Problem(
            .tooManyRequests, "rate", "Too many requests",
            detail: "a device may send \(perSecond) requests a second", limit: perSecond,
            hint: "wait as Retry-After says",
            retryAfterSeconds: max(1, (waitMilliseconds + 999) / 1_000))
    }

    static func tooManyFailures(waitMilliseconds: Int64, perMinute: Int) -> Problem {
        Problem(
            .tooManyRequests, "failed-authentications", "Too many failed authentications",
            detail: "an address may fail \(perMinute) times a minute", limit: perMinute,
            hint: "wait, and check the token",
            retryAfterSeconds: max(1, (waitMilliseconds + 999) / 1_000))
    }

    static func tooManyStreams(limit: Int) -> Problem {
        Problem(
            .tooManyRequests, "too-many-streams", "Too many live streams",
            detail: "a device may have \(limit) live streams open", limit: limit,
            hint: "close some", retryAfterSeconds: 15)
    }

    static func headersTooLarge(limit: Int) -> Problem {
        Problem(
            .requestHeaderFieldsTooLarge, "headers-too-large", "The headers are too large",
            detail: "all headers have at most \(limit) bytes", limit: limit,
            hint: "send fewer headers")
    }

    // MARK: 500, 503

    static var internalError: Problem {
        Problem(
            .internalServerError, "internal", "Something went wrong in the daemon",
            detail: "the daemon's log says more", hint: "try again; if it stays, report it")
    }

    static func tooManyConnections(limit: Int) -> Problem {
        Problem(
            .serviceUnavailable, "too-many-connections", "Too many connections",
            detail: "the daemon serves \(limit) connections", limit: limit, hint: "try again",
            retryAfterSeconds: 5)
    }

    static var outcomeUnknown: Problem {
        Problem(
            .serviceUnavailable, "outcome-unknown", "The disk was too slow",
            detail: "the changes may or may not have been stored",
            hint: "send the same request again: it changes nothing twice", retryAfterSeconds: 5)
    }
}
