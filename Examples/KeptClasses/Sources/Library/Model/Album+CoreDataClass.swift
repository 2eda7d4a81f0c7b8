//
//  Album+CoreDataClass.swift
//  Library
//

import Catalogue
import CoreData
import Foundation

@objc(CDAlbum)
public class Album: NSManagedObject {
    @objc dynamic var shoutedTitle: String { title?.uppercased() ?? "" }

    static var artistNameKey: String { #keyPath(Album.artist.name) }
}

@objc public enum Format: Int32 {
    case vinyl, disc
}
