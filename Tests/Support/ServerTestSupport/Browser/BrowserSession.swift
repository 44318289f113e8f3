import Foundation

/// The operations that differ between kinds of browsers.
protocol BrowserSession: Sendable {
    /// The JSON value of the answer.
    func send(_ command: WebDriverCommand) async throws -> Any
    func show(width: Int, height: Int, scheme: String) async throws
    func setOffline(_ isOffline: Bool) async throws
    func blockStorage(_ isBlocked: Bool) async throws
    func complaints() async throws -> [String]
    func requests() async throws -> [PageRequest]
    /// Ends the browser.
    func end() async
}

struct BrowserOptions {
    var acceptsInsecureCertificates: Bool
    var downloads: String
}
