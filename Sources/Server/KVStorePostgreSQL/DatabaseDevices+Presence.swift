#if PostgreSQL
    import Dispatch
    package import KVStoreServer
    import Synchronization

    /// What this node knows of devices, and writes for the others: within a second who is connected, each minute who
    /// was seen.
    extension DatabaseDevices {
        struct UnwrittenPresence {
            /// Devices that have got connected or disconnected.
            var devices: Set<String> = []
            /// Devices that were seen later are to be written, in milliseconds since 1970.
            var seen: Int64 = .min
        }

        static let connectionMilliseconds = 1_000
        static let seenMilliseconds = 60_000

        package func presence(of id: String) -> (lastSeen: Int64?, isConnected: Bool) {
            state.withLock { ($0.presence.lastSeen[id], $0.presence.streams[id] != nil) }
        }

        package func openStream(_ id: String, limit: Int, now: @escaping @Sendable () -> Int64) -> StreamSlot? {
            let isOpened = recordStreams(of: id) { $0.openStream(id, limit: limit) }
            guard isOpened else { return nil }
            return StreamSlot { [self] in
                recordStreams(of: id) { $0.closeStream(id, now: now()) }
            }
        }

        private func recordStreams<Value: Sendable>(of id: String, _ change: (inout DevicePresence) -> Value) -> Value {
            let (value, isFirst) = state.withLock { state in
                let wasConnected = state.presence.streams[id] != nil
                let value = change(&state.presence)
                guard wasConnected != (state.presence.streams[id] != nil), !state.isClosed else {
                    return (value, false)
                }
                defer { state.unwritten.devices.insert(id) }
                return (value, state.unwritten.devices.isEmpty)
            }
            if isFirst { writeLater() }
            return value
        }

        private func writeLater() {
            queue.asyncAfter(deadline: .now() + .milliseconds(Self.connectionMilliseconds)) {
                [weak self] in
                self?.writePresence { state in
                    defer { state.unwritten.devices = [] }
                    return state.unwritten.devices
                }
            }
        }

        /// Begins to write when devices were seen.
        func schedulePresence() {
            queue.asyncAfter(deadline: .now() + .milliseconds(Self.seenMilliseconds)) {
                [weak self] in
                guard let self, !state.withLock({ $0.isClosed }) else { return }
                writeSeen()
                schedulePresence()
            }
        }

        private func writeSeen() {
            writePresence { state in
                let seen = state.presence.lastSeen.filter { $0.value > state.unwritten.seen }
                state.unwritten.seen = seen.values.max() ?? state.unwritten.seen
                return Set(seen.keys)
            }
            state.withLock { state in
                let known = Set(state.cache.devices.values.map(\.id))
                state.presence.keep(known.contains)
            }
        }

        /// On `queue`. What could not be written is written again with the next change.
        private func writePresence(of ids: (inout State) -> Set<String>) {
            let entries = state.withLock { state in
                state.isClosed
                    ? []
                    : ids(&state).map { id in
                        (id, state.presence.lastSeen[id] ?? 0, Int32(clamping: state.presence.streams[id] ?? 0))
                    }
            }
            do throws(ServerError) {
                for batch in entries.batches {
                    var parameters = PostgreSQLParameters()
                    parameters.append(node)
                    parameters.append(array: batch.map(\.0))
                    parameters.append(array: batch.map(\.1))
                    parameters.append(array: batch.map(\.2))
                    _ = try perform(PostgreSQLExecution(DeviceRows.writePresence, parameters))
                }
            } catch {
                report(error)
                state.withLock { $0.unwritten.devices.formUnion(entries.map(\.0)) }
                writeLater()
            }
        }
    }
#endif
