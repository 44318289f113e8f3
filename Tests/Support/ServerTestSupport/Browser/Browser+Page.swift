package import Foundation
import Testing

/// Viewport, cookies, requests and windows of pages.
extension Browser {
    /// Sets the size of the current window's page in CSS pixels, and the preferred color scheme.
    package func show(width: Int, height: Int = 1_000, scheme: String = "light") async throws {
        try await session.show(width: width, height: height, scheme: scheme)
        try await wait("innerWidth === \(width) && innerHeight === \(height)")
    }

    /// The visible part of the page as PNG, with one pixel per CSS pixel.
    package func screenshot() async throws -> Data {
        let text = try await send(.screenshot) as? String
        return try #require(text.flatMap { Data(base64Encoded: $0) })
    }

    /// The complaints of pages since the last call: uncaught errors, violations of their policies, and errors and
    /// warnings that they wrote to the console. Without failed requests: see `requests`.
    package func complaints() async throws -> [String] { try await session.complaints() }

    /// The requests of pages since the last call, in order.
    package func requests() async throws -> [PageRequest] { try await session.requests() }

    /// The cookies of the current page, including HttpOnly cookies.
    package func cookies() async throws -> [Cookie] {
        let found = try #require(try await send(.cookies) as? [[String: Any]])
        let data = try JSONSerialization.data(withJSONObject: found)
        return try JSONDecoder().decode([Cookie].self, from: data)
    }

    /// Deletes those cookies: they belong to a host, on which each test has another daemon.
    package func deleteCookies() async throws { _ = try await send(.deleteCookies) }

    package struct Cookie: Decodable, Sendable {
        package var name: String
        package var value: String
        package var path: String
        package var domain: String
        package var secure: Bool
        package var httpOnly: Bool
        /// `Strict`, `Lax` or `None`.
        package var sameSite: String?
    }

    // MARK: - Windows

    package struct Window: Hashable, Sendable {
        let handle: String
    }

    package var window: Window {
        get async throws {
            Window(handle: try #require(try await send(.window) as? String))
        }
    }

    package var windows: [Window] {
        get async throws {
            try #require(try await send(.windows) as? [String]).map(Window.init)
        }
    }

    /// Opens an empty tab, whose size is not set yet, and switches to it.
    ///
    /// - Parameter hidesOthers: false for a window beside the others, which stay visible.
    @discardableResult
    package func openWindow(hidesOthers: Bool = true) async throws -> Window {
        let opened = try await send(.newWindow(hidesOthers ? "tab" : "window")) as? [String: Any]
        let window = Window(handle: try #require(opened?["handle"] as? String))
        try await go(to: window)
        return window
    }

    /// Switches to a window for the commands that follow.
    package func go(to window: Window) async throws { try await send(.switchTo(window.handle)) }

    /// Runs `body` in another tab, whose size is not set yet, and closes it with all that was emulated in it.
    package func withNewWindow(_ body: () async throws -> Void) async throws {
        let current = try await window
        try await openWindow()
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        try await closeWindow(thenGoTo: current)
        try result.get()
    }

    /// Closes the current window, and switches to another.
    package func closeWindow(thenGoTo window: Window) async throws {
        try await send(.closeWindow)
        try await go(to: window)
    }

    // MARK: - Conditions

    /// Runs `body` while pages are cut off from every server, including those on this machine. In Chromium only pages
    /// of the current window.
    package func withoutNetwork(_ body: () async throws -> Void) async throws {
        try await with(session.setOffline, body)
    }

    /// Runs `body` while pages keep nothing: Firefox refuses all storage, Chromium the cookies of scripts.
    package func withBlockedStorage(_ body: () async throws -> Void) async throws {
        try await with(session.blockStorage, body)
    }

    /// A condition that does not outlive `body`, as later tests have the same browser.
    private func with(_ set: (Bool) async throws -> Void, _ body: () async throws -> Void) async throws {
        try await set(true)
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        try await set(false)
        try result.get()
    }

    /// A command of the DevTools protocol. Chromium only.
    @discardableResult
    package func devTools(_ command: String, _ parameters: [String: Any]) async throws -> Any {
        let chromium = try #require(session as? ChromeDriver, "only Chromium can do this")
        return try await chromium.devTools(command, parameters)
    }
}

package struct PageRequest: Sendable {
    package var url: String
    /// Nil without an answer.
    package var status: Int?
    /// The browser's message. A request that its page has cancelled has not failed.
    package var failure: String?

    /// Whether it has failed up to now.
    package var hasFailed: Bool { failure != nil || status.map { $0 >= 400 } ?? false }
}
