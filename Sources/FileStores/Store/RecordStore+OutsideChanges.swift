internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform

extension RecordStore {
    // MARK: Changes of others

    /// Reads files again that others have changed, so that this save applies to the current content.
    ///
    /// Records with a different text have a new version, so that a save that changes them is a conflict. Other records are unchanged.
    func mergeOutsideChanges() throws {
        var hasChanges = false
        var ordered: [ChangedOrder] = []
        for index in images.indices where FileStamp(images[index].path) != images[index].stamp {
            let old = images[index]
            if old.stamp != nil, FileStamp(old.path) == nil {
                throw CoreDataError.make(
                    NSPersistentStoreSaveError, "The file at \(old.path) is not there any more.",
                    reason: "Another program has moved or removed it since it was read.",
                    next: "Put it back, and save again; or add the store anew to begin with an empty file.",
                    info: [NSFilePathErrorKey: old.path])
            }
            var report = FileReport()
            let new = try read(old.plan, progress: nil, report: &report)
            if new.text.buffer.elementsEqual(old.text.buffer), new.form == old.form {
                old.stamp = new.stamp
                continue
            }
            hasChanges = true
            ordered += try changedOrders(old, new, index)
            try compare(old, new)
            images[index] = new
        }
        if hasChanges { try adopt(ordered) }
    }

    /// Updates the state in memory after images were read again.
    private func adopt(_ ordered: [ChangedOrder]) throws {
        forgetRelated()
        uniqueness = nil
        changeCount &+= 1
        for (index, image) in images.enumerated() {
            var report = FileReport()
            try redecode(index, image, &report)
        }
        for change in ordered { try raiseVersion(change) }
    }

    func takeOver(stateOf former: any FileStore) throws {
        guard let former = former as? RecordStore else { return }
        try requestLock.withLock {
            try former.requestLock.withLock {
                // In another layout, only their keys identify records.
                guard fileOfRoot == former.fileOfRoot else { return }
                var ordered: [ChangedOrder] = []
                for (index, (old, new)) in zip(former.images, images).enumerated() {
                    // Others may have changed the file before it was copied.
                    if !new.text.buffer.elementsEqual(old.text.buffer) { ordered += try changedOrders(old, new, index) }
                    try compare(old, new)
                    givenNumbers[index] = max(givenNumbers[index], former.givenNumbers[index])
                }
                try adopt(ordered)
            }
        }
    }

    /// Validates all records of a changed file, as when the store is opened.
    private func redecode(_ index: Int, _ image: RecordImage, _ report: inout FileReport) throws {
        image.rows = image.text.count <= plan.layout.keepsRowsUpTo ? Array(repeating: nil, count: image.count) : []
        for record in 0..<image.count {
            do {
                if image.shape(record).isJoin { try checkPairOrFail(record, in: index) } else { _ = try row(record, in: index) }
            } catch {
                guard plan.layout.skipsUnreadableRecords else { throw error }
                image.skipped.insert(record)
            }
        }
    }

    /// Gives records of a new image their previous versions, or the next ones if they have changed. Records without keys also get their numbers.
    private func compare(_ old: RecordImage, _ new: RecordImage) throws {
        if new.isKeyless || old.isKeyless { try compareByNumber(old, new) } else { try compareByKey(old, new) }
    }

    private func compareByKey(_ old: RecordImage, _ new: RecordImage) throws {
        new.bumps = Array(repeating: 0, count: new.count)
        for record in 0..<old.count where !old.skipped.contains(record) {
            guard let other = try Self.record(like: record, of: old, in: new, format) else { continue }
            try note(old, record, new, other)
        }
    }

    /// Compares records without keys by position: a record has its identity only if all records before it do.
    private func compareByNumber(_ old: RecordImage, _ new: RecordImage) throws {
        new.bumps = Array(repeating: 0, count: new.count)
        // A deleted record leaves no trace in the file.
        for record in 0..<min(old.numbers.count, new.numbers.count) { new.numbers[record] = old.numbers[record] }
        var next = old.lastNumber
        for record in min(old.numbers.count, new.numbers.count)..<new.numbers.count {
            next += 1
            new.numbers[record] = next
        }
        new.lastNumber = next
        for record in 0..<min(old.count, new.count) { try note(old, record, new, record) }
    }

    private func note(_ old: RecordImage, _ record: Int, _ new: RecordImage, _ other: Int) throws {
        let isSame =
            try format.recordText(record, of: old).elementsEqual(format.recordText(other, of: new))
            || haveSameValues(old, record, new, other)
        new.bumps[other] = (old.bumps.isEmpty ? 0 : old.bumps[record]) + (isSame ? 0 : 1)
    }

    /// Returns whether two records have the same values, possibly in other columns or with other quotes.
    private func haveSameValues(_ old: RecordImage, _ record: Int, _ new: RecordImage, _ other: Int) throws -> Bool {
        let (before, after) = (old.walking ?? format.reader(of: old), new.walking ?? format.reader(of: new))
        (old.walking, new.walking) = (before, after)
        do {
            try before.open(record)
            try after.open(other)
        } catch { return false }
        return old.plan.names.indices.allSatisfy { name in
            let (first, second) = (before.cell(name), after.cell(name))
            return first.isNil == second.isNil && (first.isNil || first.text.elementsEqual(second.text))
        }
    }
}
