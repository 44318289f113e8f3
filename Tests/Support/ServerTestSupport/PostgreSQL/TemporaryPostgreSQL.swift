// A real PostgreSQL server for tests, in a temporary directory. Not here: what is expected of a client, and kvsd.

#if PostgreSQL
    import Foundation
    import KVStorePostgreSQL
    import Synchronization

    /// A server that listens on a socket of its own, and ends with the process of the tests, also if that is killed.
    ///
    /// Calls block until the server has done what they ask.
    package final class TemporaryPostgreSQL: Sendable {
        /// With the socket, the log and the directory `data`; removed with the server.
        package let directory: String
        /// The port of the socket, and of the loopback address if the server listens there.
        package let port: Int
        private let options: String
        private let running = Mutex<Supervisor?>(nil)
        private let databaseCount = Atomic(0)

        /// Why tests with a server are skipped.
        package static var missing: String? {
            if binaries == nil { return "PostgreSQL is not on this machine" }
            if getuid() == 0, access("/usr/bin/setpriv", X_OK) != 0 {
                return "PostgreSQL does not run as root, and setpriv is not on this machine"
            }
            return nil
        }

        /// The directory of the server's programs, such as `initdb`: in `PATH`, or else of the newest version where
        /// Debian has them.
        package static let binaries: String? = {
            let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
            let installed = versions.compactMap { Int($0) }.sorted(by: >).map { "/usr/lib/postgresql/\($0)/bin" }
            let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            return (path.map(String.init) + installed).first { directory in
                ["initdb", "pg_ctl", "postgres"].allSatisfy {
                    access("\(directory)/\($0)", X_OK) == 0
                }
            }
        }()

        private static let first = Result { try TemporaryPostgreSQL() }

        /// One server for all tests of the process; each makes a database of its own.
        package static func shared() throws -> TemporaryPostgreSQL { try first.get() }

        /// Starts a server.
        ///
        /// - Parameters:
        ///   - isDurable: whether a commit waits for the disk.
        ///   - port: also listens on 127.0.0.1, where roles need a password.
        ///   - settings: of `postgresql.conf`.
        package init(isDurable: Bool = false, loopbackPort port: Int? = nil, settings: [String: String] = [:]) throws {
            guard let binaries = Self.binaries else { throw ServerError.missing }
            directory = "\(Self.parent)postgresql-\(UUID().uuidString.prefix(8))"
            self.port = port ?? 5_432
            var all = [
                "listen_addresses": port == nil ? "" : "127.0.0.1", "port": "\(self.port)",
                "unix_socket_directories": directory, "shared_buffers": "32MB", "jit": "off",
                // In its directory, so that nothing is left of a server that was killed.
                "dynamic_shared_memory_type": "mmap",
                "fsync": isDurable ? "on" : "off", "full_page_writes": isDurable ? "on" : "off",
            ]
            all.merge(settings) { $1 }
            options = all.map { "-c \($0)='\($1)'" }.sorted().joined(separator: " ")
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            if let user = Self.user, chown(directory, user.id, user.group) != 0 {
                throw ServerError.failed("chown \(directory)")
            }
            // Tests write to a supervisor that may have ended.
            signal(SIGPIPE) { _ in }
            try start(binaries)
        }

        deinit {
            running.withLock { $0?.end("") }
            try? FileManager.default.removeItem(atPath: directory)
        }

        package enum ServerError: Error { case missing, failed(String) }

        // MARK: - Databases

        /// A new empty database; returns its address.
        package func makeDatabase() throws -> String {
            let name = "test_\(databaseCount.add(1, ordering: .relaxed).newValue)"
            let connection = try PostgreSQLConnection(
                address(database: "postgres"), applicationName: "tests", timeout: .seconds(60))
            try connection.script("CREATE DATABASE \(name)", timeout: .seconds(60))
            return address(database: name)
        }

        /// The superuser's address, by the socket.
        package func address(database: String) -> String {
            "postgres:///\(database)?host=\(directory)&port=\(port)&user=postgres"
        }

        package var log: String {
            (try? String(contentsOfFile: "\(directory)/log", encoding: .utf8)) ?? ""
        }

        // MARK: - Starting and ending

        /// Starts the server on its data after `stop` or `kill`, and waits until it accepts connections.
        package func start() throws {
            guard let binaries = Self.binaries else { throw ServerError.missing }
            try start(binaries)
        }

        private func start(_ binaries: String) throws {
            try running.withLock { running in
                let supervisor = try Supervisor(
                    Self.user.map { [$0.id, $0.group] } ?? [], directory, binaries, options)
                guard supervisor.isReady else {
                    throw ServerError.failed("PostgreSQL did not start: \(log.suffix(2_000))")
                }
                running = supervisor
            }
        }

        /// Ends the server and its connections; `immediate` leaves the rest to recovery.
        package func stop(immediate: Bool = false) {
            running.withLock { running in
                running?.end(immediate ? "immediate" : "fast")
                running = nil
            }
        }

        /// Kills all processes of the server at once, as a power failure would.
        package func kill() {
            running.withLock { running in
                let file = "\(directory)/data/postmaster.pid"
                let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
                if let server = text.split(separator: "\n").first.flatMap({ Int32($0) }) {
                    let children = Self.children(of: server)
                    for process in [server] + children { _ = Foundation.kill(process, SIGKILL) }
                }
                running?.end("none")
                running = nil
            }
        }

        private static func children(of process: Int32) -> [Int32] {
            let file = "/proc/\(process)/task/\(process)/children"
            let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
            return text.split(separator: " ").compactMap { Int32($0) }
        }

        /// What runs a command as the user of the servers, who is given the directory.
        static func unprivileged(owning directory: String) throws -> [String] {
            guard let user else { return [] }
            guard chown(directory, user.id, user.group) == 0 else { throw ServerError.failed("chown \(directory)") }
            return ["/usr/bin/setpriv", "--reuid=\(user.id)", "--regid=\(user.group)", "--clear-groups"]
        }

        /// In memory if there is room for the databases of all tests, 8 MB each: on a disk, to make one takes ten times
        /// as long.
        private static var parent: String {
            var space = statvfs()
            if statvfs("/dev/shm", &space) == 0, space.f_bavail * space.f_frsize >= 4 << 30 {
                return "/dev/shm/"
            }
            // Root's own temporary directory may be closed to the server's user.
            return getuid() == 0 ? "/tmp/" : NSTemporaryDirectory()
        }

        /// Who the server runs as, if the tests run as root.
        private static var user: (id: UInt32, group: UInt32)? {
            if getuid() != 0 { return nil }
            return getpwnam("postgres").map { ($0.pointee.pw_uid, $0.pointee.pw_gid) } ?? (65_534, 65_534)
        }
    }
#endif
