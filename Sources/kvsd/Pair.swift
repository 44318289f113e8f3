import ArgumentParser
import CommandSupport
import Essentials
import KVStoreServer
import KVStoreWire

struct Pair: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print a line with which another machine joins, once.",
        discussion: """
            The line contains the address of the running daemon, a code that adds one device within \
            ten minutes, and the fingerprint of the daemon's key, by which the device recognizes the \
            daemon from then on. Run on the other machine:

              kvs join 'ubiquity://…'

            Examples:

              kvsd pair
              kvsd pair --name wall-display --read-only --store usage
              kvsd pair --url https://box.example.org:8722
            """)

    @Option(help: "Name of the device; by default the one it proposes.") var name: String?
    @OptionGroup var options: PermissionOptions
    @Option(
        help: ArgumentHelp(
            "Address that the device uses, if the daemon cannot know it; https:// behind a proxy.",
            valueName: "url"))
    var url: String?
    @OptionGroup var data: DataOption

    func run() async throws {
        let directory = data.directory
        guard let daemon = try directory.statusFile.read() else {
            throw CommandFailure.notRunning(
                .noInput, in: directory, start: "kvsd serve --listen 0.0.0.0")
        }
        let key = try daemon.certificate.map { path throws(ServerError) in
            try directory.keyFingerprint(ofCertificate: path)
        }
        let urls = try await urls(of: daemon)
        try directory.deviceFile.check(
            name ?? "device", options.permissions, isRenamed: name == nil)
        let code = try directory.pairingFile.add(name: name, options.permissions)
        try Console.printScannable(PairingLine(url: urls[0], code: code, key: key).text)
        explain(urls, daemon)
    }

    /// The daemon's URL as the device should use it, then others.
    private func urls(of daemon: DaemonStatus) async throws(CommandFailure) -> [String] {
        if let url {
            guard let checked = Self.checked(url, isEncrypted: daemon.certificate != nil) else {
                throw CommandFailure(
                    .usage, "invalid --url '\(url)': use the form https://HOST:PORT")
            }
            return [checked]
        }
        let scheme = daemon.certificate == nil ? "http" : "https"
        return await ReachableHosts.find(listeningOn: daemon.host).map { host in
            "\(scheme)://\(ListenAddress(host: host, port: daemon.port))"
        }
    }

    /// With scheme and port; nil for what is no URL of a daemon.
    private static func checked(_ url: String, isEncrypted: Bool) -> String? {
        let text = url.contains("://") ? url : (isEncrypted ? "https://" : "http://") + url
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            scheme == "https" || scheme == "http" && !isEncrypted,
            let host = parts.host, !host.isEmpty,
            parts.user == nil, parts.query == nil, parts.fragment == nil
        else { return nil }
        var path = Substring(parts.percentEncodedPath)
        while path.hasSuffix("/") { path.removeLast() }
        let port = parts.port ?? (scheme == "https" ? 443 : 80)
        return "\(scheme)://\(host):\(port)\(path)"
    }

    /// Not the line, as standard error often ends in a log.
    private func explain(_ urls: [String], _ daemon: DaemonStatus) {
        Console.note("Valid once, for ten minutes. On the other machine: kvs join 'LINE'")
        if urls.count > 1 {
            Console.note(
                "This machine has other addresses, for --url: "
                    + urls.dropFirst().joined(separator: " "))
        }
        if url == nil, ListenAddress(host: daemon.host, port: daemon.port).isLoopback {
            Console.note(
                "kvsd listens on this machine only; for other machines, start it with "
                    + "kvsd serve --listen 0.0.0.0")
        }
    }
}
