@_spi(Stores) internal import ObjectGraph

/// The resources that were received several times while the pages of a list were read.
///
/// Some lists legitimately contain duplicates, such as a playlist: then the same resources are received twice in each pass. If the order of equal resources
/// differs for each request, other resources are missing instead.
struct RepeatedRows {
    private var came: Set<NSManagedObjectID> = []
    private var twice: Set<NSManagedObjectID> = []
    private var twiceBefore: Set<NSManagedObjectID>?

    /// Notes the rows of a page.
    ///
    /// - Parameter repeatsOne: Whether the page was requested with the last row of the previous one.
    mutating func note(_ page: RowList, repeatsOne: Bool) {
        for (index, row) in page.enumerated() where !came.insert(row.knownObjectID).inserted {
            if index > 0 || !repeatsOne { twice.insert(row.knownObjectID) }
        }
    }

    /// Starts over with the first page.
    mutating func restart() { (came, twice, twiceBefore) = ([], [], twice) }

    /// Whether the same resources were received twice in this pass over the pages and in the previous one.
    var areTheSame: Bool { twice == twiceBefore }
}
