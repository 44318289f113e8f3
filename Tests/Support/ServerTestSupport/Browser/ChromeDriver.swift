import Foundation
import HTTPTypes
import NIOCore
import TestSupport
import Testing

/// A headless Chromium behind chromedriver, which speaks WebDriver over HTTP.
struct ChromeDriver: BrowserSession {
    private let driver: RunningProgram
    private let client: TestClient
    private let path: String

    static func start(
        _ home: TemporaryHome, _ program: String, _ options: BrowserOptions
    ) async throws -> ChromeDriver {
        let driver = try RunningProgram(home, program, ["--port=0"])
        let port = try await driver.output.port(after: "started successfully on port ")
        let client = TestClient(port: port)
        let capabilities: [String: Any] = [
            "acceptInsecureCerts": options.acceptsInsecureCertificates,
            "goog:chromeOptions": [
                "args": [
                    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                    "--user-data-dir=\(home.path)/profile",
                ],
                "prefs": ["download.default_directory": options.downloads],
            ],
            "goog:loggingPrefs": ["browser": "ALL", "performance": "ALL"],
            "timeouts": WebDriverCommand.timeouts,
        ]
        let started = try await send(client, .post, "/session", ["capabilities": ["alwaysMatch": capabilities]])
        let session = try #require((started as? [String: Any])?["sessionId"] as? String)
        return ChromeDriver(driver: driver, client: client, path: "/session/\(session)")
    }

    func send(_ command: WebDriverCommand) async throws -> Any {
        let body = command.method == .post ? command.parameters : nil
        return try await Self.send(client, command.method, path + command.path, body)
    }

    @discardableResult
    func devTools(_ command: String, _ parameters: [String: Any]) async throws -> Any {
        try await Self.send(client, .post, path + "/goog/cdp/execute", ["cmd": command, "params": parameters])
    }

    /// Entries of a log (`browser`, `performance`) since the last call.
    func log(_ type: String) async throws -> [[String: Any]] {
        let entries = try await Self.send(client, .post, path + "/se/log", ["type": type])
        return entries as? [[String: Any]] ?? []
    }

    func end() async {
        // Ends Chromium.
        _ = try? await Self.send(client, .delete, path, nil)
        driver.send(SIGKILL)
        _ = await driver.status()
        await client.close()
    }

    private static func send(
        _ client: TestClient, _ method: HTTPRequest.Method, _ path: String, _ body: [String: Any]?
    ) async throws -> Any {
        let content = try body.map {
            ByteBuffer(bytes: try JSONSerialization.data(withJSONObject: $0))
        }
        let answer = try await client.execute(
            uri: path, method: method, headers: [.contentType: "application/json"], body: content)
        let document = try HTTPExamples.json(answer.text) as? [String: Any]
        guard answer.status == .ok else { throw BrowserFailure(description: answer.text) }
        return document?["value"] ?? NSNull()
    }
}

// MARK: - Pages

extension ChromeDriver {
    func show(width: Int, height: Int, scheme: String) async throws {
        try await devTools(
            "Emulation.setDeviceMetricsOverride",
            ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": false])
        try await devTools(
            "Emulation.setEmulatedMedia", ["features": [["name": "prefers-color-scheme", "value": scheme]]])
    }

    func setOffline(_ isOffline: Bool) async throws {
        try await devTools(
            "Network.emulateNetworkConditions",
            ["offline": isOffline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1])
    }

    func blockStorage(_ isBlocked: Bool) async throws {
        try await devTools("Emulation.setDocumentCookieDisabled", ["disabled": isBlocked])
    }

    func complaints() async throws -> [String] {
        try await log("browser").filter {
            ["SEVERE", "WARNING"].contains($0["level"] as? String) && $0["source"] as? String != "network"
        }.map { $0["message"] as? String ?? "" }
    }

    func requests() async throws -> [PageRequest] {
        var requests: [PageRequest] = []
        var positions: [String: Int] = [:]
        for entry in try await log("performance") {
            let text = try #require(entry["message"] as? String)
            let message = (try HTTPExamples.json(text) as? [String: Any])?["message"]
            let event = message as? [String: Any]
            guard let parameters = event?["params"] as? [String: Any],
                let id = parameters["requestId"] as? String
            else { continue }
            let answer = parameters["response"] as? [String: Any]
            switch event?["method"] as? String {
            case "Network.requestWillBeSent":
                let request = parameters["request"] as? [String: Any]
                positions[id] = requests.count
                requests.append(PageRequest(url: try #require(request?["url"] as? String)))
            case "Network.responseReceived":
                guard let position = positions[id] else { continue }
                requests[position].status = answer?["status"] as? Int
            case "Network.loadingFailed":
                guard let position = positions[id], parameters["canceled"] as? Bool != true else { continue }
                requests[position].failure = parameters["errorText"] as? String
            default: break
            }
        }
        return requests.filter { !$0.url.hasPrefix("data:") }
    }
}
