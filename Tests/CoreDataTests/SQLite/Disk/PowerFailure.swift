import Foundation
import RandomPrograms
import TestSupport

/// What a disk holds after the power failed, by the log of what was written to it.
///
/// What was synced is there. Of what was written to a file since its last sync, any part may be there, whatever the order: whole writes, sectors of them, or
/// nothing. A file whose making or removal was not synced may be missing, or be there again; one whose new name was not synced may have the old one.
struct PowerFailure {
    private static let sector = 512

    private enum Change {
        case write(Int, [UInt8])
        case cut(Int)
    }
    private struct File {
        var durable: [UInt8] = []
        var pending: [Change] = []
        /// Whether its name was synced.
        var isNamed = false
    }

    private var files: [Int: File] = [:]
    private var names: [String: Int] = [:]
    /// The removed files whose removal was not synced.
    private var removed: [String: Int] = [:]
    /// The new names that were not synced, each with the file that had the name before.
    private var renamed: [(from: String, to: String, replaced: Int?)] = []

    /// - Parameter settled: The number of events after which everything was brought to the disk.
    init(_ events: ArraySlice<WatchedDisk.Event>, settled: Int) {
        for (index, event) in events.enumerated() {
            if index == settled { settle() }
            switch event {
            case .made(let number, let name):
                files[number] = File()
                names[name] = number
            case .written(let number, let offset, let bytes): files[number]?.pending.append(.write(offset, bytes))
            case .cut(let number, let size): files[number]?.pending.append(.cut(size))
            case .synced(let number): sync(number)
            case .removed(let name, let isDurable):
                guard let number = names.removeValue(forKey: name) else { continue }
                if isDurable { didSyncNames() } else if files[number]?.isNamed == true { removed[name] = number }
            case .renamed(let from, let to):
                guard let number = names.removeValue(forKey: from) else { continue }
                renamed.append((from, to, names.updateValue(number, forKey: to)))
            case .syncedNames:
                for number in names.values { files[number]?.isNamed = true }
                didSyncNames()
            }
        }
        if events.count == settled { settle() }
    }

    private mutating func settle() {
        for number in names.values { sync(number) }
        didSyncNames()
    }

    private mutating func didSyncNames() { (removed, renamed) = ([:], []) }

    private mutating func sync(_ number: Int) {
        guard var file = files[number] else { return }
        for change in file.pending { Self.apply(change, to: &file.durable) }
        file.pending = []
        // With a new file SQLite syncs its directory.
        if !file.isNamed { didSyncNames() }
        file.isNamed = true
        files[number] = file
    }

    private static func apply(_ change: Change, to bytes: inout [UInt8]) {
        switch change {
        case .write(let offset, let new):
            if bytes.count < offset + new.count { bytes += [UInt8](repeating: 0, count: offset + new.count - bytes.count) }
            bytes.replaceSubrange(offset..<offset + new.count, with: new)
        case .cut(let size):
            if bytes.count > size { bytes.removeLast(bytes.count - size) }
        }
    }

    /// The files that are left.
    func survivors(_ generator: inout SeededGenerator) -> [String: Data] {
        var (left, names) = ([String: Data](), names)
        for (from, to, replaced) in renamed.reversed() where Bool.random(using: &generator) {
            names[from] = names[to]
            names[to] = replaced
        }
        for (name, number) in names.sorted(by: { $0.key < $1.key }) {
            guard let file = files[number], file.isNamed || Bool.random(using: &generator) else { continue }
            left[name] = Self.bytes(of: file, &generator)
        }
        for (name, number) in removed.sorted(by: { $0.key < $1.key }) where left[name] == nil {
            if let file = files[number], Bool.random(using: &generator) { left[name] = Self.bytes(of: file, &generator) }
        }
        return left
    }

    private static func bytes(of file: File, _ generator: inout SeededGenerator) -> Data {
        var bytes = file.durable
        let share = Double.random(in: 0...1, using: &generator)
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: break
        case 1: for change in file.pending { apply(change, to: &bytes) }
        case 2:
            // In their order, up to some place.
            for change in file.pending.prefix(Int(Double(file.pending.count) * share)) { apply(change, to: &bytes) }
        case 3: for change in file.pending where Double.random(in: 0...1, using: &generator) < share { apply(change, to: &bytes) }
        default:
            for change in file.pending {
                guard case .write(let offset, let new) = change else {
                    if Double.random(in: 0...1, using: &generator) < share { apply(change, to: &bytes) }
                    continue
                }
                for start in stride(from: 0, to: new.count, by: sector) where Double.random(in: 0...1, using: &generator) < share {
                    apply(.write(offset + start, Array(new[start..<min(start + sector, new.count)])), to: &bytes)
                }
            }
        }
        return Data(bytes)
    }
}
