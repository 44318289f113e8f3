#if os(Linux) || os(Android)
    import Foundation

    extension DeviceIdentity {
        /// The name of this machine: the pretty one of `/etc/machine-info`, else the host's.
        public static func systemName(machineInfo: String = "/etc/machine-info") -> String {
            if let file = FileHandle(forReadingAtPath: machineInfo) {
                defer { try? file.close() }
                let text = (try? file.read(upToCount: 65_536)).map {
                    String(decoding: $0, as: UTF8.self)
                }
                if let name = text.flatMap(prettyHostname(in:)) { return name }
            }
            return ProcessInfo.processInfo.hostName
        }
    }
#endif
