import ServerTestSupport
import Foundation
import TestSupport
import Testing

/// The page of a real daemon in a real browser.
@Suite("The page", .requiresBrowser, .serialized, .browser, .timeLimit(.minutes(5)))
struct UsagePageTests: PageSuite {
    /// Runs a daemon with pushed usage, and opens its page.
    ///
    /// - Parameters:
    ///   - options: of `kvsd pair`.
    ///   - signsIn: false for a browser that opens the page without a code.
    func open(
        width: Int = 1_280, scheme: String = "light", _ options: [String] = [],
        signsIn: Bool = true, _ body: (Browser, PageDaemon) async throws -> Void
    ) async throws {
        let browser = try #require(Browser.shared)
        let daemon = try await PageDaemon()
        try await daemon.push()
        try await browser.show(width: width, scheme: scheme)
        _ = try await (browser.complaints(), browser.requests())
        if signsIn {
            try await signIn(browser, daemon, options)
        } else {
            try await browser.open(daemon.url)
            try await browser.wait("$('form.signin')")
        }
        try await body(browser, daemon)
        let complaints = try await browser.complaints()
        #expect(complaints.isEmpty, "\(complaints)")
        let foreign = try await browser.requests().map(\.url)
            .filter { !$0.hasPrefix("http://127.0.0.1:") && !$0.hasPrefix("about:") }
        #expect(foreign.isEmpty, "\(foreign)")
        try await browser.deleteCookies()
        // Ends the live stream.
        try await browser.open("about:blank")
    }

    func signIn(_ browser: Browser, _ daemon: PageDaemon, _ options: [String] = []) async throws {
        try await browser.open(try await daemon.address(options))
        try await browser.wait("document.querySelectorAll('.card').length === 2")
        try await browser.wait("$('#link').textContent === 'live'")
    }

    /// All sections, an open account and an open device.
    static let routes = [
        "usage", "usage/codex%09dev%40example.test", "history", "spending", "devices", "devices/id-of-desk", "keys",
        "settings",
    ]

    /// Opens a section, or an account or device in one.
    func go(to route: String, _ browser: Browser) async throws {
        try await browser.execute("location.hash = '#/\(route)'")
        let section = route.prefix { $0 != "/" }
        try await browser.wait("$('#list').classList.contains('\(section)')")
        if route.hasPrefix("usage/") { try await browser.wait("$('#detail table')") }
        if route.hasPrefix("devices/") { try await browser.wait("$('#detail h2')") }
    }
}
