package import Foundation
import Testing

/// What pages are shown, know and do.
extension Browser {
    /// The size of the current window's page in CSS pixels, and the preferred color scheme.
    package func show(width: Int, height: Int = 1_000, scheme: String = "light") async throws {
        try await session.show(width: width, height: height, scheme: scheme)
        try await wait("innerWidth === \(width) && innerHeight === \(height)")
    }

    /// What the window shows, as PNG with one pixel for each CSS pixel.
    package func screenshot() async throws -> Data {
        let text = try await send(.screenshot) as? String
        return try #require(text.flatMap { Data(base64Encoded: $0) })
    }

    /// What pages have complained about since the last call: errors that nobody caught, violations of their policies, and what
    /// they wrote to the console as an error or warning. Without failed requests: see `requests`.
    package func complaints() async throws -> [String] { try await session.complaints() }

    /// What pages have asked for since the last call, in order.
    package func requests() async throws -> [PageRequest] { try await session.requests() }

    /// The cookies of the current page, those too that its scripts do not see.
    package func cookies() async throws -> [Cookie] {
        let found = try #require(try await send(.cookies) as? [[String: Any]])
        let data = try JSONSerialization.data(withJSONObject: found)
        return try JSONDecoder().decode([Cookie].self, from: data)
    }

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

    /// Opens an empty tab, whose size is not yet set, and goes on there.
    @discardableResult
    package func openWindow() async throws -> Window {
        let opened = try await send(.newTab) as? [String: Any]
        let window = Window(handle: try #require(opened?["handle"] as? String))
        try await go(to: window)
        return window
    }

    /// Following commands are for this window.
    package func go(to window: Window) async throws { try await send(.switchTo(window.handle)) }

    /// Runs `body` in another tab, whose size is not yet set, and closes it with all that was emulated in it.
    package func withNewWindow(_ body: () async throws -> Void) async throws {
        let current = try await window
        try await openWindow()
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        try await closeWindow(thenGoTo: current)
        try result.get()
    }

    /// Closes the current window, and goes on in another.
    package func closeWindow(thenGoTo window: Window) async throws {
        try await send(.closeWindow)
        try await go(to: window)
    }

    // MARK: - Conditions

    /// Cuts the pages of the browser off from every server, also of this machine. In Chromium those of the current window.
    package func setOffline(_ isOffline: Bool) async throws {
        try await session.setOffline(isOffline)
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
    /// In the browser's words. That a page ends its own request is no failure.
    package var failure: String?

    /// Whether it has failed up to now.
    package var hasFailed: Bool { failure != nil || status.map { $0 >= 400 } ?? false }
}
