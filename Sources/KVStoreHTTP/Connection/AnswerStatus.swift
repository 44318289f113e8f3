import Foundation
import KVStore

/// What an HTTP status means to a replica.
enum AnswerStatus {
    /// Nil for success.
    static func error(
        status: Int, retryAfter: String?, body: Data, address: DaemonAddress, token: AccessToken
    ) -> SyncTransportError? {
        switch status {
        case 200..<300: return nil
        case 429, 503: return .busy(retryAfterSeconds: retryAfter.flatMap(seconds))
        case 300..<400:
            return .refused(
                status: status, code: "redirect",
                message: "\(address) answers with a redirect; use the address that it leads to")
        default: break
        }
        var problem = ProblemDetails(status: status, body: body)
        problem.code = token.redacted(problem.code)
        problem.message = token.redacted(problem.message)
        if status == 401 { return .unauthorized("\(address): \(problem.message)") }
        return .refused(status: status, code: problem.code, message: problem.message)
    }

    /// Retry-After as a number of seconds; the form with a date is not used by the daemon.
    static func seconds(_ text: String) -> Double? {
        guard text.utf8.count <= 10, let value = Double(text), value.isFinite, value >= 0
        else { return nil }
        return min(value, HTTPLimits.retryAfterSeconds)
    }
}
