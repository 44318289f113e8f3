#if os(Linux) || os(Android)
    import Essentials
    import LocalFiles

    extension DeviceIdentity {
        /// The name of this machine: the pretty one in `/etc/machine-info`, else the host name.
        public static func systemName() -> String {
            let info = try? LocalFile("/etc/machine-info").read(byteLimit: 65_536)  // Few have one.
            return info.flatMap { prettyHostname(in: String(decoding: $0.data, as: UTF8.self)) }
                ?? ProcessInfo.processInfo.hostName
        }
    }
#endif
