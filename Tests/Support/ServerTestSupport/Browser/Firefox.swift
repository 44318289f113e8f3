import Foundation
import TestSupport
import Testing

/// A headless Firefox, driven by Marionette, with scripts in its privileged window for what WebDriver lacks.
struct Firefox: BrowserSession {
    private let program: RunningProgram
    private let marionette: Marionette

    static func start(_ home: TemporaryHome, _ path: String, _ options: BrowserOptions) async throws -> Firefox {
        var home = home
        // Lets Firefox believe the preference of the server for its own settings.
        home.variables["MOZ_REMOTE_SETTINGS_DEVTOOLS"] = "1"
        try home.file("profile/user.js", try preferences(options))
        let program = try RunningProgram(
            home, path,
            [
                "--marionette", "--headless", "--no-remote", "--remote-allow-system-access",
                "--profile", "\(home.path)/profile",
            ])
        let port = try await program.output.port(after: "Listening on port ")
        let firefox = Firefox(program: program, marionette: try await Marionette(port: port))
        try await firefox.send(
            "WebDriver:NewSession",
            [
                "acceptInsecureCerts": options.acceptsInsecureCertificates,
                "timeouts": WebDriverCommand.timeouts,
            ])
        try await firefox.executeInChrome(observation)
        return firefox
    }

    private static func preferences(_ options: BrowserOptions) throws -> String {
        let values: [(String, Any)] = [
            ("marionette.port", 0),
            // No network requests of its own.
            ("services.settings.server", "data:,#"),
            ("browser.newtabpage.enabled", false),
            ("browser.startup.page", 0),
            ("devtools.console.stdout.content", true),
            ("devtools.console.stdout.chrome", false),
            ("network.disable-localhost-when-offline", true),
            ("browser.download.folderList", 2),
            ("browser.download.dir", options.downloads),
        ]
        return try values.map { name, value in
            let data = try JSONSerialization.data(withJSONObject: [name, value], options: .withoutEscapingSlashes)
            return "user_pref(\(String(decoding: data, as: UTF8.self).dropFirst().dropLast()));\n"
        }.joined()
    }

    func send(_ command: WebDriverCommand) async throws -> Any {
        try await send(command.name, command.parameters)
    }

    @discardableResult
    private func send(_ name: String, _ parameters: [String: Any]) async throws -> Any {
        let answer = try await marionette.answer(to: name, try JSONSerialization.data(withJSONObject: parameters))
        let parts = try #require(try JSONSerialization.jsonObject(with: answer) as? [Any])
        try #require(parts.count == 4)
        if let error = parts[2] as? [String: Any] {
            throw BrowserFailure(description: "\(name): \(error["error"] ?? ""): \(error["message"] ?? "")")
        }
        guard let result = parts[3] as? [String: Any], result.count == 1 else { return parts[3] }
        return result["value"] ?? result
    }

    /// The JSON value that a script returns in the browser's own window, which has all privileges.
    @discardableResult
    private func executeInChrome(_ script: String, _ arguments: [Any] = []) async throws -> Any {
        try await send("Marionette:SetContext", ["value": "chrome"])
        let result: Result<Any, any Error>
        do {
            result = .success(try await send("WebDriver:ExecuteScript", ["script": script, "args": arguments]))
        } catch { result = .failure(error) }
        try await send("Marionette:SetContext", ["value": "content"])
        return try result.get()
    }

    func end() async {
        _ = try? await send("Marionette:Quit", ["flags": ["eForceQuit"]])
        await marionette.close()
        program.send(SIGKILL)
        _ = await program.status()
    }
}

// MARK: - Pages

extension Firefox {
    /// The window itself has at least 500 pixels, but the element in it that shows a page can have any size.
    func show(width: Int, height: Int, scheme: String) async throws {
        try await executeInChrome(
            """
            const [width, height, scheme] = arguments;
            const browser = gBrowser.selectedBrowser;
            for (const limit of ['', 'min-', 'max-']) {
                browser.style.setProperty(`${limit}width`, `${width}px`);
                browser.style.setProperty(`${limit}height`, `${height}px`);
            }
            browser.browsingContext.prefersColorSchemeOverride = scheme;
            """, [width, height, scheme])
    }

    func setOffline(_ isOffline: Bool) async throws {
        // A service worker reaches servers on this machine also when Firefox is offline: nothing listens on port 9.
        try await executeInChrome(
            """
            const [isOffline] = arguments, proxy = Services.prefs.getBranch('network.proxy.');
            const values = {
                http: '127.0.0.1', http_port: 9, ssl: '127.0.0.1', ssl_port: 9, allow_hijacking_localhost: true, type: 1,
            };
            const setters = { string: 'setCharPref', number: 'setIntPref', boolean: 'setBoolPref' };
            for (const [name, value] of Object.entries(values)) {
                if (isOffline) proxy[setters[typeof value]](name, value); else proxy.clearUserPref(name);
            }
            Services.io.offline = isOffline;
            """, [isOffline])
    }

    func blockStorage(_ isBlocked: Bool) async throws {
        try await executeInChrome(
            """
            const name = 'network.cookie.cookieBehavior';
            if (arguments[0]) Services.prefs.setIntPref(name, 2); else Services.prefs.clearUserPref(name);
            """, [isBlocked])
    }

    /// Records the requests of pages; those without a page are Firefox's own.
    private static let observation = """
        const requests = new Map();
        window.requestsOfPages = requests;
        for (const topic of ['modify-request', 'examine-response', 'stop-request']) {
            Services.obs.addObserver(subject => {
                const channel = subject.QueryInterface(Ci.nsIHttpChannel);
                if (!channel.loadInfo.browsingContextID) return;
                const request = { url: channel.URI.spec };
                if (topic !== 'modify-request') {
                    try { request.status = channel.responseStatus } catch { }
                    if (![Cr.NS_OK, Cr.NS_BINDING_ABORTED, Cr.NS_ERROR_ABORT].includes(channel.status)) {
                        request.failure = String(channel.status);
                    }
                }
                requests.set(channel.channelId, request);
            }, `http-on-${topic}`);
        }
        """

    func requests() async throws -> [PageRequest] {
        let found = try await executeInChrome(
            """
            const requests = [...window.requestsOfPages.values()];
            window.requestsOfPages.clear();
            return requests;
            """)
        return (found as? [[String: Any]] ?? []).map {
            PageRequest(
                url: $0["url"] as? String ?? "", status: $0["status"] as? Int, failure: $0["failure"] as? String)
        }
    }

    /// Errors and violations that Firefox has recorded, and errors and warnings that pages wrote to the console, which
    /// it prints.
    func complaints() async throws -> [String] {
        let mark = UUID().uuidString
        _ = try await send(.execute("console.log('\(mark)')"))
        var written: [String] = []
        var hasAllOutput = false
        for await line in program.output {
            hasAllOutput = line.contains(mark)
            if hasAllOutput { break }
            // A logger of Firefox's own ends its name with a colon.
            if line.hasPrefix("console.error: ") || line.hasPrefix("console.warn: "), !line.hasSuffix(": ") {
                written.append(line)
            }
        }
        guard hasAllOutput else { throw BrowserFailure(description: "Firefox's output has ended") }
        let noted = try await executeInChrome(
            #"""
            const messages = Services.console.getMessageArray();
            Services.console.reset();
            return messages.filter(message => message instanceof Ci.nsIScriptError)
                .filter(({ flags }) => !(flags & Ci.nsIScriptError.infoFlag))
                .filter(({ category, sourceName }) => category.startsWith('CSP_')
                    || !/^(chrome|resource|moz-extension):|^\[/.test(sourceName))
                // Reported for a page that a test leaves while one of its scripts runs.
                .filter(({ errorMessage }) => !errorMessage.startsWith('Script terminated by timeout'))
                // Firefox measures a page that is left before it has its styles; what a script measures has a line.
                .filter(({ errorMessage, lineNumber }) => lineNumber || !errorMessage.startsWith('Layout was forced'))
                .map(({ category, errorMessage, sourceName, lineNumber }) =>
                    `${category}: ${errorMessage} (${sourceName}:${lineNumber})`);
            """#)
        return (noted as? [String] ?? []) + written
    }
}
