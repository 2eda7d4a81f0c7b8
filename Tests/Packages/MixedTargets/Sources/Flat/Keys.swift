import Foundation

/// A file without a class, which names properties.
public enum Keys {
    public static let title = #keyPath(Album.title)
}
