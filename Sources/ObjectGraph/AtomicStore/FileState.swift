internal import Foundation

/// Identifies a state of a file without reading it: by inode, size and modification time.
struct FileState: Equatable {
    let text: String

    /// Nil where there is no file, or where it was written so recently that another write may have the same time.
    init?(_ url: URL) {
        guard url.isFileURL, let attributes = try? FileManager.default.attributesOfItem(atPath: url.path),
            let written = attributes[.modificationDate] as? Date, let size = attributes[.size] as? NSNumber,
            Date().timeIntervalSince(written) > 0.1
        else { return nil }
        let number = (attributes[.systemFileNumber] as? NSNumber)?.stringValue ?? "-"
        text = "\(number) \(size) \(written.timeIntervalSinceReferenceDate.bitPattern)"
    }
}
