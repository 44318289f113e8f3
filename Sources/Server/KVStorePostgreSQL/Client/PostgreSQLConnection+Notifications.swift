package struct PostgreSQLNotification: Equatable, Sendable {
    package var channel: String
    package var payload: String
    /// Whose transaction notified: the `backendProcessID` of its connection.
    package var backendProcessID: Int32
}

#if PostgreSQL
    import CPostgreSQL
    import Essentials

    extension PostgreSQLConnection {
        /// Waits for notifications of the channels that a script `LISTEN`s to.
        ///
        /// - Parameter wakeDescriptor: ends the wait when it is readable; the caller reads it.
        /// - Returns: All that have arrived, in order; none at the timeout or when woken.
        /// - Throws: `disconnected`, after which notifications have been missed.
        package func waitForNotifications(timeout: Duration, wakeDescriptor: Int32? = nil)
            throws(PostgreSQLError) -> [PostgreSQLNotification]
        {
            let deadline = ContinuousClock.now + timeout
            while true {
                guard let handle else { throw closedError }
                let isLost = PQconsumeInput(handle) == 0
                let found = takeNotifications(handle)
                if !found.isEmpty { return found }
                if isLost { throw disconnected() }
                var slots = [pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)]
                if let wakeDescriptor {
                    slots.append(pollfd(fd: wakeDescriptor, events: Int16(POLLIN), revents: 0))
                }
                if !Self.poll(&slots, until: deadline) || slots[0].revents == 0 { return [] }
            }
        }

        private func takeNotifications(_ handle: OpaquePointer) -> [PostgreSQLNotification] {
            var found: [PostgreSQLNotification] = []
            while let next = PQnotifies(handle) {
                found.append(
                    PostgreSQLNotification(
                        channel: String(cString: next.pointee.relname), payload: String(cString: next.pointee.extra),
                        backendProcessID: next.pointee.be_pid))
                PQfreemem(next)
            }
            return found
        }
    }
#endif
