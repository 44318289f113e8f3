// A real browser for tests of pages. Not here: what a page is expected to show.

import Foundation
import HTTPTypes
import NIOCore
package import ProgramTesting
import ServerTestSupport
package import Testing

/// A headless Chromium, driven by the WebDriver protocol of chromedriver (W3C).
package struct Browser: Sendable {
    /// That of the suite.
    @TaskLocal package static var shared: Browser?

    /// Nil where `scripts/bootstrap --tests` does not install it.
    package static let driver = ["/usr/bin/chromedriver", "/usr/local/bin/chromedriver"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    package let home: TemporaryHome
    private let client: TestClient
    private let session: String

    /// Runs a browser with a profile of its own while `body` runs.
    package static func run(_ body: (Browser) async throws -> Void) async throws {
        let home = try TemporaryHome()
        defer { home.remove() }
        let driver = try RunningProgram(home, try #require(driver), ["--port=0"])
        var lines = driver.output.makeAsyncIterator()
        var port: Int?
        while port == nil, let line = await lines.next() {
            port = line.firstMatch(of: /started successfully on port ([0-9]+)/).flatMap {
                Int($0.1)
            }
        }
        let client = TestClient(port: try #require(port))
        let options: [String: Any] = [
            "goog:chromeOptions": [
                "args": [
                    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                    "--user-data-dir=\(home.path)/profile",
                ]
            ],
            "goog:loggingPrefs": ["browser": "ALL", "performance": "ALL"],
            "timeouts": ["script": 30_000, "pageLoad": 60_000],
        ]
        let started = try await send(
            client, .post, "/session", ["capabilities": ["alwaysMatch": options]])
        let session = try #require((started as? [String: Any])?["sessionId"] as? String)
        let browser = Browser(home: home, client: client, session: session)
        let result: Result<Void, any Error>
        do { result = .success(try await body(browser)) } catch { result = .failure(error) }
        // Ends Chromium.
        _ = try? await browser.send(.delete, "")
        driver.send(SIGKILL)
        _ = await driver.status()
        await client.close()
        try result.get()
    }

    // MARK: - Commands

    package func open(_ url: String) async throws { try await send(.post, "/url", ["url": url]) }

    /// The JSON value of a script's `return`. In scripts, `$(SELECTOR)` is the first element that matches.
    @discardableResult
    package func execute(_ script: String) async throws -> Any {
        try await send(
            .post, "/execute/sync", ["script": Self.selection + script, "args": [String]()])
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
    package func wait(
        _ expression: String, at location: SourceLocation = #_sourceLocation
    ) async throws {
        do {
            try await send(
                .post, "/execute/async",
                [
                    "script": Self.selection + """
                        const done = arguments[0];
                        const check = () => {
                            const value = (\(expression));
                            if (value) done(true); else requestAnimationFrame(check);
                        };
                        check();
                        """,
                    "args": [String](),
                ])
        } catch {
            let text = try await execute("return document.body.innerText")
            Issue.record("\(expression): \(error)\n\(text)", sourceLocation: location)
            throw error
        }
    }

    package func click(_ selector: String) async throws {
        try await send(.post, "/element/\(element(selector))/click", [:])
    }

    /// Types into an element, in place of its text.
    package func fill(_ selector: String, _ text: String) async throws {
        let element = try await element(selector)
        try await send(.post, "/element/\(element)/clear", [:])
        try await send(.post, "/element/\(element)/value", ["text": text])
    }

    /// Gives a file to an input for files, which can be hidden.
    package func choose(_ path: String, in selector: String) async throws {
        try await send(.post, "/element/\(element(selector))/value", ["text": path])
    }

    /// Presses and releases a key at the focus.
    package func press(_ key: Character) async throws {
        let actions = ["keyDown", "keyUp"].map { ["type": $0, "value": String(key)] }
        try await send(
            .post, "/actions",
            ["actions": [["type": "key", "id": "keyboard", "actions": actions]]])
    }

    @discardableResult
    package func devTools(_ command: String, _ parameters: [String: Any]) async throws -> Any {
        try await send(.post, "/goog/cdp/execute", ["cmd": command, "params": parameters])
    }

    /// The width of the window in CSS pixels, and the preferred color scheme.
    package func show(width: Int, height: Int = 1_000, scheme: String = "light") async throws {
        try await devTools(
            "Emulation.setDeviceMetricsOverride",
            ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": false])
        try await devTools(
            "Emulation.setEmulatedMedia",
            ["features": [["name": "prefers-color-scheme", "value": scheme]]])
    }

    /// Entries of a log (`browser`, `performance`) since the last call.
    package func log(_ type: String) async throws -> [[String: Any]] {
        try await send(.post, "/se/log", ["type": type]) as? [[String: Any]] ?? []
    }

    private func element(_ selector: String) async throws -> String {
        let found = try await send(
            .post, "/element", ["using": "css selector", "value": selector])
        return try #require((found as? [String: String])?.values.first)
    }

    @discardableResult
    private func send(
        _ method: HTTPRequest.Method, _ path: String, _ body: [String: Any]? = nil
    ) async throws -> Any {
        try await Self.send(client, method, "/session/\(session)\(path)", body)
    }

    private static func send(
        _ client: TestClient, _ method: HTTPRequest.Method, _ path: String,
        _ body: [String: Any]?
    ) async throws -> Any {
        let content = try body.map {
            ByteBuffer(bytes: try JSONSerialization.data(withJSONObject: $0))
        }
        let answer = try await client.execute(
            uri: path, method: method, headers: [.contentType: "application/json"], body: content)
        let document = try HTTPExamples.json(answer.text) as? [String: Any]
        guard answer.status == .ok else { throw Failure(description: answer.text) }
        return document?["value"] ?? NSNull()
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }
}

/// Runs one browser for all tests of a suite.
package struct SharedBrowser: SuiteTrait, TestScoping {
    package func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
    ) async throws {
        try await Browser.run { browser in
            try await Browser.$shared.withValue(browser, operation: body)
        }
    }
}

extension SuiteTrait where Self == SharedBrowser {
    package static var browser: SharedBrowser { SharedBrowser() }
}
