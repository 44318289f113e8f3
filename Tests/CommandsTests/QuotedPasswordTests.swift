import TestSupport
import Testing

@Suite("Passwords in wrong arguments", .timeLimit(.minutes(5)))
struct QuotedPasswordTests {
    @Test(
        "a message about an argument does not contain the password of an address",
        arguments: [
            ("kvs", ["join", "http://a", "https://ann:sesame@h"]), ("kvs", ["get", "k", "l@m", "x://ann:sesame@h"]),
            ("kvsd", ["serve", "postgres://ann:sesame@h/db"]), ("kvsd", ["serve", "--postgres://ann:sesame@h/db"]),
            ("usage-push", ["alerts", "enable", "webhook", "https://ann:sesame@h:x/y"]),
            ("usage-view", ["https://ann:sesame@h"]), ("kvs", ["status", "https://sesame@h"]),
            ("kvs", ["status", "https://ann:open/sesame@h"]), ("clip", ["list", "https://ann:sesame@h"]),
        ])
    func masked(program: String, arguments: [String]) async throws {
        let home = try TemporaryHome()
        defer { home.remove() }
        let outcome = try await home.run(program, arguments)
        #expect(outcome.status == 64, "\(outcome.errors)")
        #expect(!(outcome.errors + outcome.text).contains("sesame"), "\(outcome.errors)")
    }
}
