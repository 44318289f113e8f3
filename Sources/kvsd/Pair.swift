import ArgumentParser
import Commands
import Essentials
import KVStoreServer
import KVStoreWire

struct Pair: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair",
        abstract: "Print a line with which another machine joins, or a browser signs in, once.",
        discussion: """
            The line contains the address of the running daemon, a code that adds one device within \
            ten minutes, and the fingerprint of the daemon's key, by which the device recognizes the \
            daemon from then on. Run on the other machine:

              kvs join 'ubiquity://…'

            With --page, it prints an address instead, with its QR code, that opens the limits in a browser: \
            on a phone, scan it with the camera. The page may look, and with --write change keys, with \
            --admin rename and remove devices.

            Examples:

              kvsd pair
              kvsd pair --page --name phone
              kvsd pair --name wall-display --read-only --store usage
              kvsd pair --url https://box.example.org:8722
            """)

    @Flag(help: "Print an address that signs in a browser, on a phone for example.") var page = false
    @Flag(help: "Let the page change keys.") var write = false
    @Option(help: "Name of the device; by default the one it proposes.") var name: String?
    @OptionGroup var options: PermissionOptions
    @Option(
        help: ArgumentHelp(
            "Address that the device uses, if the daemon cannot know it; https:// behind a proxy.",
            valueName: "url"))
    var url: String?
    @OptionGroup var storage: StorageOption

    func validate() throws {
        if write, !page { throw ValidationError("--write is for --page: programs may write") }
        if page, options.readOnly {
            throw ValidationError("--read-only is for programs: a page may write only with --write")
        }
    }

    func run() async throws {
        let daemon = try runningDaemon()
        let urls = try await storage.urls(of: daemon, given: url)
        try Console.printScannable(try addPairing(urls[0], daemon))
        explain(urls, daemon)
    }

    /// Nil if the database has nodes elsewhere and their address is in `url`.
    private func runningDaemon() throws -> DaemonStatus? {
        let directory = storage.directory
        if let daemon = try directory.statusFile.read() { return daemon }
        guard try storage.databaseAddress() != nil else {
            throw CommandFailure.notRunning(.noInput, in: directory, start: "ubq up, or kvsd serve --listen 0.0.0.0")
        }
        guard url != nil else {
            throw CommandFailure(
                .noInput,
                "no node of the database runs with \(directory.path); use --data to name the directory of "
                    + "one that runs on this machine, or --url for the address of the nodes")
        }
        return nil
    }

    /// Returns the line or address that uses the code.
    private func addPairing(_ url: String, _ daemon: DaemonStatus?) throws -> String {
        let devices = try storage.devices()
        let key = try storage.key(of: daemon)
        guard !page || Self.keepsCookies(url) else {
            throw CommandFailure(
                .usage,
                "a browser cannot sign in at \(url), as it keeps the cookie only over TLS or on loopback; "
                    + "give the https:// address of a proxy with --url, or start kvsd with TLS")
        }
        let permissions = page ? options.permissions(ofPageThatMayWrite: write) : options.permissions
        try devices.check(name ?? "device", permissions, isRenamed: name == nil)
        let code = try devices.addPairing(name: name, permissions)
        return page
            ? code.pageURL(of: url) : PairingLine(url: url, code: code, key: key).text
    }

    /// Whether a browser that opens the URL of a daemon keeps cookies that are `Secure`.
    private static func keepsCookies(_ url: String) -> Bool {
        let authority = url.dropFirst("http://".count).prefix { $0 != "/" }
        return url.hasPrefix("https://") || ListenAddress(String(authority))?.isLoopback == true
    }

    /// Not the line, as standard error often ends in a log.
    private func explain(_ urls: [String], _ daemon: DaemonStatus?) {
        Console.note(
            "Valid once, for ten minutes. "
                + (page
                    ? "Open it in a browser, or scan it with a phone's camera."
                    : "On the other machine: kvs join 'LINE'"))
        if urls.count > 1 {
            Console.note("This machine has other addresses, for --url: " + urls.dropFirst().joined(separator: " "))
        }
        if daemon == nil, urls[0].hasPrefix("https://") {
            Console.note(
                "No node runs with \(storage.directory.path), so the line has no key: the device needs to trust "
                    + "the certificate.")
        }
        guard let daemon else { return }
        if url == nil, ListenAddress(host: daemon.host, port: daemon.port).isLoopback {
            Console.note(
                "kvsd listens on this machine only; for other machines, start it with "
                    + "kvsd serve --listen 0.0.0.0")
        }
    }
}

extension StorageOption {
    /// The daemon's URL as a device should use it, then others; none if it does not run and none is given.
    func urls(of daemon: DaemonStatus?, given url: String?) async throws(CommandFailure) -> [String] {
        if let url {
            guard let checked = Self.checked(url, isEncrypted: daemon.map { $0.certificate != nil }) else {
                throw CommandFailure(.usage, "invalid --url '\(url)': use the form https://HOST:PORT")
            }
            return [checked]
        }
        guard let daemon else { return [] }
        let scheme = daemon.certificate == nil ? "http" : "https"
        return await ReachableHosts.find(listeningOn: daemon.host).map {
            "\(scheme)://\(ListenAddress(host: $0, port: daemon.port))"
        }
    }

    /// Nil without TLS.
    func key(of daemon: DaemonStatus?) throws(ServerError) -> KeyFingerprint? {
        try daemon?.certificate.map { path throws(ServerError) in try directory.keyFingerprint(ofCertificate: path) }
    }

    /// With scheme and port; nil for what is no URL of a daemon.
    ///
    /// - Parameter isEncrypted: nil if that is unknown.
    private static func checked(_ url: String, isEncrypted: Bool?) -> String? {
        let text = url.contains("://") ? url : (isEncrypted == false ? "http://" : "https://") + url
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            scheme == "https" || scheme == "http" && isEncrypted != true,
            let host = parts.host, !host.isEmpty,
            parts.user == nil, parts.query == nil, parts.fragment == nil
        else { return nil }
        var path = Substring(parts.percentEncodedPath)
        while path.hasSuffix("/") { path.removeLast() }
        let port = parts.port ?? (scheme == "https" ? 443 : 80)
        return "\(scheme)://\(host):\(port)\(path)"
    }
}
