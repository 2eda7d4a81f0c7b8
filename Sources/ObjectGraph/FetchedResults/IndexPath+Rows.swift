public import Foundation

// The additions of UIKit and AppKit to Foundation's index path, which has only the indices on Linux.
extension IndexPath {
    /// Creates the index path of a row in a section.
    public init(row: Int, section: Int) { self = [section, row] }

    /// Creates the index path of an item in a section.
    public init(item: Int, section: Int) { self = [section, item] }

    /// The section: the first index.
    public var section: Int {
        get { self[0] }
        set { self[0] = newValue }
    }

    /// The row in the section: the second index.
    public var row: Int {
        get { self[1] }
        set { self[1] = newValue }
    }

    /// The item in the section: the second index.
    public var item: Int {
        get { self[1] }
        set { self[1] = newValue }
    }
}
