// Real browsers for tests of pages. Not here: what a page is expected to show.

import Foundation
package import TestSupport
package import Testing

/// A headless browser, which executes one command at a time.
package struct Browser: Sendable {
    /// The browser of the current suite.
    @TaskLocal package static var shared: Browser?

    package enum Kind: String, CaseIterable, Sendable {
        case chromium = "Chromium"
        case firefox = "Firefox"

        /// The kinds that this machine has; `scripts/bootstrap --tests` installs all on Debian.
        package static let installed = allCases.filter(\.isInstalled)

        package var isInstalled: Bool { program != nil }

        fileprivate var program: String? {
            let name = self == .chromium ? "chromedriver" : "firefox-esr"
            return ["/usr/bin/\(name)", "/usr/local/bin/\(name)"]
                .first { FileManager.default.isExecutableFile(atPath: $0) }
        }
    }

    package let kind: Kind
    package let home: TemporaryHome
    let session: any BrowserSession

    /// The directory of downloaded files.
    package var downloads: String { home.path + "/downloads" }

    /// Runs a browser with a profile of its own while `body` runs.
    package static func run(
        _ kind: Kind, acceptsInsecureCertificates: Bool = false, _ body: (Browser) async throws -> Void
    ) async throws {
        var home = try TemporaryHome()
        defer { home.remove() }
        try BrowserFonts.restrict(&home)
        let options = BrowserOptions(
            acceptsInsecureCertificates: acceptsInsecureCertificates, downloads: try home.directory("downloads"))
        let program = try #require(kind.program)
        let session: any BrowserSession =
            switch kind {
            case .chromium: try await ChromeDriver.start(home, program, options)
            case .firefox: try await Firefox.start(home, program, options)
            }
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(Browser(kind: kind, home: home, session: session)))
        } catch { result = .failure(error) }
        // Even if this task is cancelled.
        await Task { await session.end() }.value
        try result.get()
    }

    // MARK: - Commands

    package func open(_ url: String) async throws { try await send(.open(url)) }

    package func reload() async throws { try await send(.reload) }

    /// The JSON value that a script returns. In scripts, `$(SELECTOR)` is the first element that matches.
    @discardableResult
    package func execute(_ script: String) async throws -> Any {
        try await send(.execute(Self.selection + script))
    }

    /// The JSON value that a script passes to its function `done`.
    @discardableResult
    package func executeAsync(_ script: String) async throws -> Any {
        try await send(.executeAsync(Self.selection + "const done = arguments[0];\n" + script))
    }

    /// The text that a script returns.
    package func text(_ script: String) async throws -> String { "\(try await execute(script))" }

    /// The two texts that a script returns.
    package func pair(_ script: String) async throws -> (String, String) {
        let values = try #require(try await execute(script) as? [String])
        try #require(values.count == 2)
        return (values[0], values[1])
    }

    private static let selection = "const $ = selector => document.querySelector(selector);\n"

    /// Waits until an expression is true.
    package func wait(_ expression: String, at location: SourceLocation = #_sourceLocation) async throws {
        do {
            try await executeAsync(
                """
                const check = () => {
                    let value;
                    // An element may be missing still.
                    try { value = (\(expression)); } catch (error) { if (!(error instanceof TypeError)) throw error; }
                    if (value) done(true); else requestAnimationFrame(check);
                };
                check();
                """)
        } catch let failure as BrowserFailure where failure.isUnloaded {
            // A page may load itself again, as for a newer version.
            try await wait(expression, at: location)
        } catch {
            let text = try await execute("return document.body.innerText")
            Issue.record("\(expression): \(error)\n\(text)", sourceLocation: location)
            throw error
        }
    }

    package func click(_ selector: String) async throws {
        try await send(.click(element(selector)))
    }

    /// Replaces the text of an element by typing.
    package func fill(_ selector: String, _ text: String) async throws {
        let element = try await element(selector)
        try await send(.clear(element))
        try await send(.type(text, into: element))
    }

    /// Chooses a file in a file input, which can be hidden.
    package func choose(_ path: String, in selector: String) async throws {
        try await send(.type(path, into: element(selector)))
    }

    /// Presses and releases a key at the focus.
    package func press(_ key: Character) async throws {
        let actions = ["keyDown", "keyUp"].map { ["type": $0, "value": String(key)] }
        try await send(.perform([["type": "key", "id": "keyboard", "actions": actions]]))
    }

    private func element(_ selector: String) async throws -> String {
        let found = try await send(.find(selector))
        return try #require((found as? [String: String])?.values.first)
    }

    @discardableResult
    func send(_ command: WebDriverCommand) async throws -> Any {
        try await session.send(command)
    }
}
