#if canImport(Darwin)
    import Essentials

    extension DeviceIdentity {
        /// The name of this machine.
        public static func systemName() -> String {
            let name = ProcessInfo.processInfo.hostName
            return name.hasSuffix(".local") ? String(name.dropLast(6)) : name
        }
    }
#endif
