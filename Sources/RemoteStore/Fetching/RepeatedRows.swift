@_spi(Stores) internal import ObjectGraph

/// The resources that have come several times while the pages of a list were read.
///
/// A list may have some twice, as a playlist has: then the same ones come twice each time. Where the order of equal ones is another one at each request,
/// others have not come instead.
struct RepeatedRows {
    private var came: Set<NSManagedObjectID> = []
    private var twice: Set<NSManagedObjectID> = []
    private var twiceBefore: Set<NSManagedObjectID>?

    /// Notes the rows of a page.
    ///
    /// - Parameter repeatsOne: Whether the page was asked for with the last row of the one before.
    mutating func note(_ page: RowList, repeatsOne: Bool) {
        for (index, row) in page.enumerated() where !came.insert(row.knownObjectID).inserted {
            if index > 0 || !repeatsOne { twice.insert(row.knownObjectID) }
        }
    }

    /// Begins with the first page again.
    mutating func restart() { (came, twice, twiceBefore) = ([], [], twice) }

    /// Whether the same ones have come twice in this reading of the pages and in the one before.
    var areTheSame: Bool { twice == twiceBefore }
}
