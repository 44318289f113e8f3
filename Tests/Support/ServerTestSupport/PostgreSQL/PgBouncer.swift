#if PostgreSQL
    import Foundation

    /// A pooler in transaction mode before a test's server; ends with its last reference, or with the process of the
    /// tests.
    package final class PgBouncer: Sendable {
        private let directory: String
        private let process: Process

        /// Why tests with a pooler are skipped.
        package static var missing: String? {
            access(path, X_OK) == 0 ? nil : "PgBouncer is not on this machine"
        }

        private static let path = "/usr/sbin/pgbouncer"

        /// Returns when it accepts connections.
        package init(before server: TemporaryPostgreSQL) throws {
            directory = "\(server.directory)/pooler-\(UUID().uuidString.prefix(8))"
            let configuration = """
                [databases]
                * = host=\(server.directory) port=\(server.port) user=postgres
                [pgbouncer]
                listen_port = 6432
                unix_socket_dir = \(directory)
                auth_type = any
                pool_mode = transaction
                default_pool_size = 3

                """
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            try configuration.write(toFile: "\(directory)/ini", atomically: true, encoding: .utf8)
            process = Process()
            let command =
                try TemporaryPostgreSQL.unprivileged(owning: directory) + [
                    "/bin/sh", "-c",
                    """
                    "$1" -q "$2/ini" >"$2/log" 2>&1 & until [ -S "$2/.s.PGSQL.6432" ]; do
                        kill -0 $! || exit; sleep 0.02
                    done
                    echo ready; read -r end; kill -9 $!
                    """, "sh", Self.path, directory,
                ]
            process.executableURL = URL(filePath: command[0])
            process.arguments = Array(command.dropFirst())
            let output = Pipe()
            process.standardInput = Pipe()
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            try process.run()
            guard !output.fileHandleForReading.availableData.isEmpty else {
                let log = try? String(contentsOfFile: "\(directory)/log", encoding: .utf8)
                throw TemporaryPostgreSQL.ServerError.failed("PgBouncer did not start: \(log ?? "")")
            }
        }

        deinit { try? (process.standardInput as? Pipe)?.fileHandleForWriting.close() }

        /// The address of a database of the server, by way of the pooler.
        package func address(of direct: String) -> String {
            let database = direct.split(separator: "?")[0]
            return "\(database)?host=\(directory)&port=6432&user=postgres"
        }
    }
#endif
