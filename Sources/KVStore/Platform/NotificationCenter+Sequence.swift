#if !canImport(Darwin)
    public import Foundation

    extension NotificationCenter {
        /// The notifications of a name, as on Apple's systems. Observing begins with this call. A reader that falls
        /// 1,000 behind loses the oldest.
        ///
        /// ```swift
        /// let name = NSUbiquitousKeyValueStore.didChangeExternallyNotification
        /// for await note in NotificationCenter.default.notifications(named: name, object: store) {
        ///     reload(note.userInfo?[NSUbiquitousKeyValueStoreChangedKeysKey] as? [String] ?? [])
        /// }
        /// ```
        public func notifications(
            named name: Notification.Name, object: (any AnyObject & Sendable)? = nil
        ) -> Notifications {
            Notifications(self, name, object)
        }

        /// Ends when its reader's task is cancelled.
        public struct Notifications: AsyncSequence, Sendable {
            public typealias Element = Notification
            public typealias Failure = Never

            private let notes: AsyncStream<Transfer>

            fileprivate init(_ center: NotificationCenter, _ name: Notification.Name, _ object: AnyObject?) {
                let (stream, continuation) = AsyncStream.makeStream(
                    of: Transfer.self, bufferingPolicy: .bufferingNewest(1_000))
                let observation = Observation(center, name, object) { continuation.yield($0) }
                continuation.onTermination = { _ in observation.end() }
                notes = stream
            }

            public func makeAsyncIterator() -> Iterator { Iterator(notes.makeAsyncIterator()) }

            public struct Iterator: AsyncIteratorProtocol {
                private var notes: AsyncStream<Transfer>.Iterator

                fileprivate init(_ notes: AsyncStream<Transfer>.Iterator) { self.notes = notes }

                public mutating func next() async -> Notification? {
                    await next(isolation: #isolation)
                }

                public mutating func next(isolation actor: isolated (any Actor)?) async -> Notification? {
                    await notes.next(isolation: actor)?.note
                }
            }
        }
    }

    /// Unchecked because `Notification` is not declared sendable; observers get it on any thread anyway.
    private struct Transfer: @unchecked Sendable {
        let note: Notification
    }

    /// Unchecked because the centre's tokens, which any thread may return, are not declared sendable.
    private final class Observation: @unchecked Sendable {
        private let center: NotificationCenter
        private let token: any NSObjectProtocol

        init(
            _ center: NotificationCenter, _ name: Notification.Name, _ object: AnyObject?,
            _ receive: @escaping @Sendable (Transfer) -> Void
        ) {
            self.center = center
            token = center.addObserver(forName: name, object: object, queue: nil) {
                receive(Transfer(note: $0))
            }
        }

        func end() { center.removeObserver(token) }
    }
#endif
