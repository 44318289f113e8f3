#if PostgreSQL
    import CPostgreSQL
    import Essentials

    extension PostgreSQLConnection {
        typealias Opened = (handle: OpaquePointer, endpoint: String, redaction: Redaction)

        /// Tries the hosts one after the other, as libpq's own loop would wait for each without a limit.
        ///
        /// - Parameter avoided: the endpoint that is tried last.
        static func open(
            _ address: String, _ applicationName: String, _ deadline: ContinuousClock.Instant, avoiding avoided: String?
        ) throws(PostgreSQLError) -> Opened {
            let settings = try settings(address)
            let redaction = Redaction(settings.options)
            let listed = try settings.hosts()
            let hosts =
                listed.filter { settings.endpoint(of: $0) != avoided }
                + listed.filter { settings.endpoint(of: $0) == avoided }
            var failures: [PostgreSQLError] = []
            for (index, host) in hosts.enumerated() {
                let rest = max(.zero, ContinuousClock.now.duration(to: deadline))
                var share = rest / (hosts.count - index)
                if let limit = settings.options["connect_timeout"].flatMap(Int.init), limit > 0 {
                    share = min(rest, .seconds(limit))
                }
                do throws(PostgreSQLError) {
                    return try connect(address, settings, host, applicationName, .now + share, redaction)
                } catch {
                    failures.append(error)
                }
            }
            let told = failures.first { $0.kind == .authentication } ?? failures[0]
            throw PostgreSQLError(told.kind, sqlState: told.sqlState, failures.map(\.message).joined(separator: "; "))
        }

        private static func connect(
            _ address: String, _ settings: ConnectionSettings, _ host: ConnectionSettings.Host,
            _ applicationName: String, _ deadline: ContinuousClock.Instant, _ redaction: Redaction
        ) throws(PostgreSQLError) -> Opened {
            let overrides = settings.overrides(for: host, applicationName: applicationName)
            let endpoint = settings.endpoint(of: host)
            guard let handle = start(address, overrides) else {
                throw PostgreSQLError(.cannotConnect, "\(endpoint): out of memory")
            }
            do throws(PostgreSQLError) {
                var isEncrypting = false
                if let text = complete(handle, deadline, &isEncrypting) {
                    throw failure(
                        redaction.redact("\(endpoint): \(text)"),
                        PQconnectionNeedsPassword(handle) == 1
                            ? .authentication : isEncrypting ? .cannotEncrypt : .cannotConnect)
                }
                return (handle, endpoint, redaction)
            } catch {
                PQfinish(handle)
                throw error
            }
        }

        /// Returns what failed.
        ///
        /// - Parameter isEncrypting: becomes whether TLS failed, or was refused.
        private static func complete(
            _ handle: OpaquePointer, _ deadline: ContinuousClock.Instant, _ isEncrypting: inout Bool
        ) -> String? {
            // Without a processor, libpq prints notices.
            PQsetNoticeProcessor(handle, { _, _ in }, nil)
            // The only form that contains the server's code.
            PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
            var events = PQstatus(handle) == CONNECTION_BAD ? 0 : POLLOUT
            while events != 0 {
                var slots = [pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0)]
                guard poll(&slots, until: deadline) else { return "no answer before the deadline" }
                // A step that fails leaves another status.
                let isStarting = PQstatus(handle) == CONNECTION_SSL_STARTUP
                switch PQconnectPoll(handle) {
                case PGRES_POLLING_OK: return nil
                case PGRES_POLLING_READING: events = numericCast(POLLIN)
                case PGRES_POLLING_WRITING: events = numericCast(POLLOUT)
                default:
                    isEncrypting = isStarting
                    events = 0
                }
            }
            return PQerrorMessage(handle).map { String(cString: $0) } ?? ""
        }

        /// - Parameter kind: if the server reported nothing.
        private static func failure(_ text: String, _ kind: PostgreSQLError.Kind) -> PostgreSQLError {
            let lines = text.split(separator: "\n").filter { !$0.hasPrefix("LOCATION:") }
            // As in 'FATAL:  28P01: password …'; the words are in the server's language.
            let state = text.firstMatch(of: #/:  ([0-9A-Z]{5}): /#).map { String($0.1) }
            let found: PostgreSQLError.Kind =
                if kind == .authentication || state.map(PostgreSQLError.kind(ofState:)) == .authentication {
                    .authentication
                } else if text.contains("session is read-only") {
                    // By libpq, because of target_session_attrs.
                    .readOnly
                } else {
                    state == nil ? kind : .cannotConnect
                }
            return PostgreSQLError(found, sqlState: state, lines.joined(separator: " "))
        }

        // MARK: - Options

        /// What libpq reads in the address, a service file and the environment.
        static func settings(_ address: String) throws(PostgreSQLError) -> ConnectionSettings {
            // The text of libpq's error can contain the password.
            guard !ConnectionSettings.splitsPassword(address), let parsed = PQconninfoParse(address, nil) else {
                throw PostgreSQLError(
                    .invalidAddress,
                    "the address is neither a postgres:// URI nor key=value pairs of libpq")
            }
            let given = options(parsed)
            let variables = [
                "sslmode": "PGSSLMODE", "target_session_attrs": "PGTARGETSESSIONATTRS",
            ].filter { getenv($0.value) != nil }
            // Without a hook, OpenSSL asks on the terminal for the passphrase of a key.
            PQsetSSLKeyPassHook_OpenSSL(PQdefaultSSLKeyPassHook_OpenSSL)
            // An invalid option ends it before it connects, after it has read all others.
            let probe = start(address, ["gssencmode": "none"])
            defer { PQfinish(probe) }
            let certificates: String? = [
                "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                "/etc/ssl/cert.pem",
            ].first { (path: String) in access(path, R_OK) == 0 }
            let home =
                getenv("HOME").map { String(cString: $0) }
                ?? FileManager.default.homeDirectoryForCurrentUser.path
            return ConnectionSettings(
                options: PQconninfo(probe).map(options) ?? given,
                chosen: Set(given.keys).union(variables.keys),
                machine: ConnectionSettings.Machine(
                    libraryVersion: Int(PQlibVersion()),
                    hasUserRootCertificate: access(home + "/.postgresql/root.crt", F_OK) == 0,
                    systemCertificates: certificates))
        }

        /// Begins to connect; what overrides the address comes after it.
        private static func start(_ address: String, _ overrides: [String: String]) -> OpaquePointer? {
            let pairs = [("dbname", address)] + overrides.sorted { $0.key < $1.key }
            var keys: [UnsafePointer<CChar>?] = pairs.map { UnsafePointer(strdup($0.0)) }
            var values: [UnsafePointer<CChar>?] = pairs.map { UnsafePointer(strdup($0.1)) }
            defer {
                for text in keys + values { free(UnsafeMutableRawPointer(mutating: text)) }
            }
            keys.append(nil)
            values.append(nil)
            return PQconnectStartParams(keys, values, 1)
        }

        /// Those that have a value; frees the list.
        private static func options(_ list: UnsafeMutablePointer<PQconninfoOption>) -> [String: String] {
            defer { PQconninfoFree(list) }
            var result: [String: String] = [:]
            var next = list
            while let keyword = next.pointee.keyword {
                if let value = next.pointee.val {
                    result[String(cString: keyword)] = String(cString: value)
                }
                next += 1
            }
            return result
        }
    }
#endif
