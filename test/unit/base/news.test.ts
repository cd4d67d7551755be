import { expect, it } from 'vitest'
import { createNews } from '../../../src/base/news.js'

it('brings news to those who subscribed to them, until they unsubscribe', () => {
  const news = createNews<{ answered: [value: string]; 'feeds changed': [] }>()
  const seen: string[] = []
  news.announce('answered', 'before')
  const unsubscribe = news.subscribe('answered', (value) => void seen.push(value))
  news.subscribe('answered', (value) => void seen.push(`second: ${value}`))
  news.subscribe('feeds changed', () => void seen.push('feeds'))
  news.announce('answered', '192.0.2.1')
  news.announce('feeds changed')
  unsubscribe()
  news.announce('answered', '192.0.2.2')
  expect(seen).toEqual(['192.0.2.1', 'second: 192.0.2.1', 'feeds', 'second: 192.0.2.2'])
})
