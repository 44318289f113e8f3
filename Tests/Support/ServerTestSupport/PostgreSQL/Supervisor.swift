#if PostgreSQL
    import Foundation

    /// A shell that starts a server, and ends it at a command or when the process of the tests has ended.
    struct Supervisor {
        /// False if the server did not start.
        let isReady: Bool
        private let process = Process()
        private let input = Pipe()
        private let output = Pipe()

        /// At the end of its input it stops the server and removes the directory.
        private static let script = #"""
            trap '' HUP INT PIPE TERM
            cd "$1" || exit
            data=$1/data
            if ! [ -e "$data/PG_VERSION" ]; then
                "$2/initdb" -D "$data" -U postgres -E UTF8 --locale=C --no-sync \
                    --auth-local=trust --auth-host=scram-sha-256 >log 2>&1 </dev/null || exit
            fi
            # After a kill the last processes may still hold the shared memory.
            tries=100
            until "$2/pg_ctl" start -w -s -D "$data" -l "$1/log" -o "$3" >/dev/null 2>&1 </dev/null; do
                tries=$((tries - 1))
                [ $tries -gt 0 ] || exit
                sleep 0.1
            done
            echo ready
            if ! read -r mode; then mode=; fi
            if [ "$mode" != none ]; then
                "$2/pg_ctl" stop -w -s -D "$data" -m "${mode:-immediate}" >/dev/null 2>&1 </dev/null
            fi
            if [ -z "$mode" ]; then rm -rf "$1"; fi
            """#

        /// - Parameter user: and group, of an unprivileged user; empty for that of the tests.
        init(_ user: [UInt32], _ directory: String, _ binaries: String, _ options: String) throws {
            var command = ["/bin/sh", "-c", Self.script, "sh", directory, binaries, options]
            if user.count == 2 {
                command =
                    [
                        "/usr/bin/setpriv", "--reuid=\(user[0])", "--regid=\(user[1])",
                        "--clear-groups",
                    ] + command
            }
            process.executableURL = URL(filePath: command[0])
            process.arguments = Array(command.dropFirst())
            process.environment = ["PATH": "/usr/bin:/bin", "LC_ALL": "C"]
            process.standardInput = input
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            try process.run()
            isReady = !output.fileHandleForReading.availableData.isEmpty
        }

        /// Ends the server in a mode of `pg_ctl stop`, with `none` only the shell, and with an empty one as at the end
        /// of the tests.
        func end(_ mode: String) {
            try? input.fileHandleForWriting.write(contentsOf: Data("\(mode)\n".utf8))
            process.waitUntilExit()
        }
    }
#endif
